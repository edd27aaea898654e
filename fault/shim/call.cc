#include "fault/shim/call.h"

#include "fault/shim/books.h"
#include "fault/shim/driver.h"
#include "fault/shim/injector.h"
#include "fault/shim/order.h"

namespace holdfast::fault {

Call::Call(Entry entry) : entry_(entry), thread_(CurrentThread(Arrival::kSubject)) {
  if (thread_ == nullptr) return;
  if (thread_->inside > 0) {
    thread_ = nullptr;
    return;
  }
  ++thread_->inside;
  PassPoint("call", InfoOf(entry).name.data());
  if (thread_->callback != nullptr) TheLedger().CallInCallback(InfoOf(entry).name, thread_->Text(), thread_->callback);
}

Call::~Call() {
  if (thread_ == nullptr) return;
  PassPoint("answer", InfoOf(entry_).name.data());
  --thread_->inside;
}

bool Call::IsAnswered() {
  const EntryPoint& info = InfoOf(entry_);
  Injector& injector = TheInjector();
  const int rule = injector.Visited(*thread_, info.site, info.name);
  if (rule < 0) {
    action_ = injector.ArmedAt(*thread_, info.site);
  } else {
    action_ = &injector.table().rule(static_cast<std::size_t>(rule)).action;
    injector.Wait(rule, info.site);
  }
  const bool answered = action_ != nullptr && action_->result && !action_->after;
  if (answered && AllSites()[info.site].kind == "release") injector.NoteReleaseKept();
  return answered;
}

CUresult Call::Answer() const { return static_cast<CUresult>(*action_->result); }

std::uint32_t Call::rounds() const { return action_ == nullptr ? 1 : 1 + action_->repeat.value_or(0); }

CUresult Call::Finish(CUresult result) const {
  return action_ != nullptr && action_->result && action_->after ? Answer() : result;
}

}  // namespace holdfast::fault
