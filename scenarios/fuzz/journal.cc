#include "scenarios/fuzz/journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace holdfast::fuzz {

Journal::Journal(const std::string& path) {
  if (path.empty()) {
    return;
  }
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ >= 0 && ftruncate(file_, kCapacityBytes) == 0) {
    void* mapped = mmap(nullptr, kCapacityBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    memory_ = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
  }
  if (memory_ == nullptr) {
    const int problem = errno;
    if (file_ >= 0) {
      close(file_);
    }
    throw std::system_error(problem, std::generic_category(), path);
  }
  std::memset(memory_, '\n', kCapacityBytes);
}

Journal::~Journal() {
  if (memory_ != nullptr) {
    Finish();
  }
}

void Journal::Begin(std::string_view text) {
  if (memory_ != nullptr) {
    std::memset(memory_, '\n', size_bytes_);
    size_bytes_ = 0;
    Append(text);
  }
}

bool Journal::Append(std::string_view text) {
  if (memory_ == nullptr) {
    return true;
  }
  if (text.size() > kCapacityBytes - size_bytes_) {
    return false;
  }
  std::copy(text.begin(), text.end(), memory_ + size_bytes_);
  size_bytes_ += text.size();
  return true;
}

void Journal::Finish() {
  if (memory_ == nullptr) {
    return;
  }
  munmap(memory_, kCapacityBytes);
  memory_ = nullptr;
  // The text is whole in any case; what follows it is blank lines.
  (void)!ftruncate(file_, static_cast<off_t>(size_bytes_));
  close(file_);
}

}  // namespace holdfast::fuzz
