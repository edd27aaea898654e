// The knobs of the model driver, read once from HOLDFAST_MODEL when the library is loaded:
//
//   HOLDFAST_MODEL="delivery=inline|thread|held|mixed,reuse=at-once|never,seed=0x..."
//
// A test changes delivery and reuse later through model/control.h.
#ifndef HOLDFAST_FAULT_MODEL_SETTINGS_H_
#define HOLDFAST_FAULT_MODEL_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "fault/model/control.h"

namespace holdfast::fault::model {

struct Settings {
  Delivery delivery = Delivery::kInline;
  HandleReuse reuse = HandleReuse::kAtOnce;
  std::uint64_t seed = 0;
};

// Empty text gives the defaults. ENSURES: on false, `error` says which key or value is wrong.
bool ParseSettings(std::string_view text, Settings* settings, std::string* error);

// The settings of this process. Ends the process with exit code 2 and a message if they do not parse.
const Settings& InitialSettings();

// Thread safety: all of these may be called from any thread; a change acts on later calls.
Delivery CurrentDelivery() noexcept;
void SetDelivery(Delivery delivery) noexcept;
HandleReuse CurrentReuse() noexcept;
void SetReuse(HandleReuse reuse) noexcept;

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_SETTINGS_H_
