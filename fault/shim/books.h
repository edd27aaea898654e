// The ledger of this process; its findings go to the events.
#ifndef HOLDFAST_FAULT_SHIM_BOOKS_H_
#define HOLDFAST_FAULT_SHIM_BOOKS_H_

#include "fault/ledger/ledger.h"
#include "fault/shim/events.h"
#include "fault/shim/timeline.h"

namespace holdfast::fault {

// Never destroyed: the driver may call back while the process ends.
inline Ledger& TheLedger() {
  static Ledger* ledger = new Ledger([](std::string_view kind, const std::string& message) {
    NoteMoment(MomentKind::kFinding, kind);
    WriteFinding(kind, message);
  });
  return *ledger;
}

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_BOOKS_H_
