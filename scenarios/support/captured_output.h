// CapturedOutput: what the process writes to stderr while it lives.
#ifndef HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_OUTPUT_H_
#define HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_OUTPUT_H_

#include <cstdio>
#include <memory>
#include <string>

namespace holdfast::scenarios {

// One at a time. What is written meanwhile comes out on the real stderr afterwards, for whoever reads the log.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  // Ends the capture. REQUIRES: nobody writes any more.
  std::string Take();

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  // Puts the real stderr back.
  void Restore() noexcept;

  File file_;
  int stderr_ = -1;  // the real one; -1 once it is back
};

}  // namespace holdfast::scenarios

#endif  // HOLDFAST_SCENARIOS_SUPPORT_CAPTURED_OUTPUT_H_
