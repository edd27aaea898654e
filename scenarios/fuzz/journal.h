// Journal: the sequence that is being run, in a file that holds it whole at any moment, even when the process dies.
#ifndef HOLDFAST_SCENARIOS_FUZZ_JOURNAL_H_
#define HOLDFAST_SCENARIOS_FUZZ_JOURNAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

// The file is mapped, so writing costs no system call. Behind the text it is blank lines until Finish cuts them off.
// Thread safety: none.
class Journal {
 public:
  // Without a path nothing is written. Throws std::system_error if the file cannot be made.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Forgets what there is, and begins with `text`.
  void Begin(std::string_view text);
  // False, and nothing is written, if it is full.
  bool Append(std::string_view text);

  // Cuts the file off behind the text. Nothing can be appended then.
  void Finish();

 private:
  static constexpr std::size_t kCapacityBytes = 1U << 20U;

  int file_ = -1;
  char* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace holdfast::fuzz

#endif  // HOLDFAST_SCENARIOS_FUZZ_JOURNAL_H_
