#include "fault/shim/order.h"

#include <dlfcn.h>

#include "fault/schedule/point.h"

namespace holdfast::fault {
namespace {

schedule::PointFunction g_point = nullptr;

}  // namespace

void FindOrder() {
  g_point = reinterpret_cast<schedule::PointFunction>(dlsym(RTLD_DEFAULT, "holdfast_schedule_point"));
}

void PassPoint(const char* kind, const char* name) {
  if (g_point != nullptr) g_point(kind, name);
}

}  // namespace holdfast::fault
