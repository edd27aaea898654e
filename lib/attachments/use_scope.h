// UseScope: notices two threads inside operations on one hierarchy, which CUDA forbids and does not notice.
#ifndef HOLDFAST_LIB_ATTACHMENTS_USE_SCOPE_H_
#define HOLDFAST_LIB_ATTACHMENTS_USE_SCOPE_H_

namespace holdfast::attachments {

class Hierarchy;

// Around each public operation on a graph. In a release build (NDEBUG) it does nothing.
class UseScope {
 public:
  // Throws std::logic_error naming `operation` if another thread is inside an operation on the hierarchy; nothing has
  // been done then. The thread that is inside already may come again (an owner's destructor, say).
  UseScope(Hierarchy& hierarchy, const char* operation);
  ~UseScope();
  UseScope(const UseScope&) = delete;
  UseScope& operator=(const UseScope&) = delete;

 private:
  // Null if this thread was inside already, and in a release build.
  Hierarchy* hierarchy_ = nullptr;
};

}  // namespace holdfast::attachments

#endif  // HOLDFAST_LIB_ATTACHMENTS_USE_SCOPE_H_
