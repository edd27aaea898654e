#include "scenarios/support/captured_output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::scenarios {

CapturedOutput::CapturedOutput() : file_(std::tmpfile(), &std::fclose) {
  if (file_ == nullptr) {
    throw std::system_error(errno, std::generic_category(), "making a file for stderr");
  }
  std::fflush(stderr);
  stderr_ = dup(STDERR_FILENO);
  if (stderr_ < 0 || dup2(fileno(file_.get()), STDERR_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "redirecting stderr");
  }
}

CapturedOutput::~CapturedOutput() { Restore(); }

std::string CapturedOutput::Take() {
  Restore();
  std::string text;
  std::rewind(file_.get());
  std::array<char, 4096> part;
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), file_.get())) > 0;) {
    text.append(part.data(), count);
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  return text;
}

void CapturedOutput::Restore() noexcept {
  if (stderr_ >= 0) {
    std::fflush(stderr);
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
    stderr_ = -1;
  }
}

}  // namespace holdfast::scenarios
