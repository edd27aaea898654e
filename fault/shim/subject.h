// Which driver and device a run is on, for the record.
#ifndef HOLDFAST_FAULT_SHIM_SUBJECT_H_
#define HOLDFAST_FAULT_SHIM_SUBJECT_H_

namespace holdfast::fault {

// Records driver version, kind of driver and first device, once a process. REQUIRES: cuInit succeeded.
void AnnounceSubject();

}  // namespace holdfast::fault

#endif  // HOLDFAST_FAULT_SHIM_SUBJECT_H_
