// The symbol that tells the model driver from the real one, and what it offers to tests.
#include "fault/model/control.h"

#include "fault/model/call.h"
#include "fault/model/code.h"
#include "fault/model/conditions.h"
#include "fault/model/delivery.h"
#include "fault/model/event.h"
#include "fault/model/executable.h"
#include "fault/model/graph.h"
#include "fault/model/memory.h"
#include "fault/model/settings.h"
#include "fault/model/stream.h"
#include "fault/model/user_object.h"

namespace holdfast::fault::model {
namespace {

ModelObjects Live() {
  return ModelObjects{UserObject::live(), Graph::live_roots(), Executable::live(), LiveStreams(),
                      LiveEvents(),       LiveAllocations(),   LiveLibraries(),    LaunchesInFlight()};
}

constexpr ModelControl kControl = {
    .version = 2,
    .register_kernel = &RegisterKernel,
    .set_delivery = [](Delivery delivery) { SetDelivery(delivery); },
    .set_handle_reuse = [](HandleReuse reuse) { SetReuse(reuse); },
    .release_held = &ReleaseHeld,
    .quiesce = &Quiesce,
    .live = &Live,
    .unmodelled = &UnmodelledNames,
    .set_conditional = &SetConditional,
};

}  // namespace
}  // namespace holdfast::fault::model

extern "C" const holdfast::fault::ModelControl* holdfast_model_control() { return &holdfast::fault::model::kControl; }
