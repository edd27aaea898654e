#include "fault/schedule/ending.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace holdfast::schedule {
namespace {

constexpr int kExitFinding = 1;
constexpr int kExitHarness = 3;

// A text of bounded length. What goes in needs no escapes in JSON.
class Line {
 public:
  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(text_ + size_, sizeof text_ - size_, format, arguments);
    va_end(arguments);
    if (count > 0) size_ = std::min(size_ + static_cast<std::size_t>(count), sizeof text_ - 1);
  }
  const char* text() const { return text_; }
  std::size_t size() const { return size_; }

 private:
  char text_[1 << 14] = "";
  std::size_t size_ = 0;
};

void WriteEvent(const Line& line) {
  const char* path = std::getenv("HOLDFAST_EVENTS");
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0 && write(file, line.text(), line.size()) < 0) dprintf(STDERR_FILENO, "holdfast: no event written\n");
}

// Who holds a mutex that was locked, or null.
const Member* HolderOf(const std::array<Member, kThreadsMax>& members, const void* mutex) {
  const int holder = static_cast<const pthread_mutex_t*>(mutex)->__data.__owner;
  for (const Member& member : members) {
    if (member.state != Member::State::kNone && member.kernel_thread == holder) return &member;
  }
  return nullptr;
}

void AddMember(Line& line, const std::array<Member, kThreadsMax>& members, const Member& member) {
  line.Add("thread %c", LetterOf(static_cast<std::size_t>(&member - members.data())));
  if (*member.seen_at != '\0') line.Add(", last seen at %s,", member.seen_at);
  line.Add(" waits for %s", WordsOf(member.wait));
  const Member* holder = member.wait == Wait::kMutex ? HolderOf(members, member.object) : nullptr;
  if (holder == &member) {
    line.Add(" that it holds itself");
  } else if (holder != nullptr) {
    line.Add(" that thread %c holds", LetterOf(static_cast<std::size_t>(holder - members.data())));
  }
}

}  // namespace

const char* WordsOf(Wait wait) {
  constexpr const char* kWords[] = {"a mutex",
                                    "a read-write lock",
                                    "a condition",
                                    "a semaphore",
                                    "a futex",
                                    "another thread's pthread_once",
                                    "another thread's end",
                                    "time to pass"};
  return kWords[static_cast<std::size_t>(wait)];
}

void EndWithDeadlock(const std::array<Member, kThreadsMax>& members) {
  static Line event;
  event.Add(R"({"event":"finding","kind":"deadlock","message":"no thread can go on: )");
  const char* separator = "";
  for (const Member& member : members) {
    if (member.state != Member::State::kWaits) continue;
    static Line line;
    line = Line();
    AddMember(line, members, member);
    dprintf(STDERR_FILENO, "holdfast: deadlock: %s\n", line.text());
    event.Add("%s%s", separator, line.text());
    separator = "; ";
  }
  event.Add("\"}\n");
  WriteEvent(event);
  _exit(kExitFinding);
}

void EndOutOfOrder(const char* reason, std::size_t step) {
  static Line event;
  event.Add(R"({"event":"out-of-order","step":%zu,"reason":"%s"})", step, reason);
  event.Add("\n");
  dprintf(STDERR_FILENO, "holdfast: the order of threads cannot be kept at step %zu: %s\n", step, reason);
  WriteEvent(event);
  _exit(kExitHarness);
}

}  // namespace holdfast::schedule
