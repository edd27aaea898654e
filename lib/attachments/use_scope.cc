#include "lib/attachments/use_scope.h"

#ifndef NDEBUG
#include <stdexcept>
#include <string>
#endif

#include "lib/attachments/hierarchy.h"

namespace holdfast::attachments {

#ifdef NDEBUG

UseScope::UseScope(Hierarchy&, const char*) {}
UseScope::~UseScope() = default;

#else

namespace {

// Its address tells threads apart.
thread_local const char this_thread = 0;

}  // namespace

UseScope::UseScope(Hierarchy& hierarchy, const char* operation) {
  const void* user = nullptr;
  // Memory ordering: relaxed. The caller's synchronisation orders everything else; where there is none, noticing it is
  // all that is asked for.
  if (hierarchy.user_.compare_exchange_strong(user, &this_thread, std::memory_order_relaxed)) {
    hierarchy_ = &hierarchy;
  } else if (user != &this_thread) {
    throw std::logic_error(std::string(operation) +
                           ": another thread is inside an operation on the same graph or one that it belongs to; "
                           "graphs are not safe to use from two threads at once");
  }
}

UseScope::~UseScope() {
  if (hierarchy_ != nullptr) {
    hierarchy_->user_.store(nullptr, std::memory_order_relaxed);
  }
}

#endif

}  // namespace holdfast::attachments
