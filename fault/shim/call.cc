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
  moment_ = BeginMoment(MomentKind::kCall, InfoOf(entry).name);
  if (thread_->callback != nullptr) TheLedger().CallInCallback(InfoOf(entry).name, thread_->Text(), thread_->callback);
}

Call::~Call() {
  if (thread_ == nullptr) return;
  EndMoment(moment_, MomentKind::kCall, InfoOf(entry_).name, Facts());
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

CUresult Call::Answer() { return Tell(static_cast<CUresult>(*action_->result)); }

std::uint32_t Call::rounds() const { return action_ == nullptr ? 1 : 1 + action_->repeat.value_or(0); }

CUresult Call::Finish(CUresult result) {
  return action_ != nullptr && action_->result && action_->after ? Answer() : Tell(result);
}

MomentFacts Call::Facts() const {
  MomentFacts facts;
  if (!is_recorded()) return facts;
  if (told_ != CUDA_SUCCESS) facts.result = ResultNameOf(told_).value_or("an unknown result");
  if (object_ == kNoObject) return facts;
  facts.object = object_;
  if (const auto references = TheLedger().ReferencesOf(object_)) facts.references = CountInMoment(*references);
  return facts;
}

}  // namespace holdfast::fault
