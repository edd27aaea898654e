#include "fault/plan/plan.h"

namespace holdfast::fault {
namespace {

constexpr std::size_t kLongestQuote = 400;

std::string Printable(std::string text) {
  if (text.size() > kLongestQuote) text = text.substr(0, kLongestQuote) + "...";
  for (char& character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte >= 0x7f) character = '?';
  }
  return text;
}

}  // namespace

PlanError::PlanError(const std::string& place, const std::string& reason)
    : std::runtime_error(Printable(place) + (place.empty() ? "" : ": ") + Printable(reason)),
      place_(Printable(place)),
      reason_(Printable(reason)) {}

std::string_view WordOf(Role role) {
  switch (role) {
    case Role::kMain:
      return "main";
    case Role::kSubject:
      return "subject";
    case Role::kCallback:
      return "callback";
  }
  return "";
}

std::string_view WordOf(Context context) {
  switch (context) {
    case Context::kCapture:
      return "capture";
    case Context::kDrain:
      return "drain";
    case Context::kCallback:
      return "callback";
    case Context::kFinalization:
      return "finalization";
  }
  return "";
}

std::string_view WordOf(Delivery delivery) {
  switch (delivery) {
    case Delivery::kInline:
      return "inline";
    case Delivery::kThread:
      return "thread";
    case Delivery::kHeld:
      return "held";
  }
  return "";
}

std::string_view WordOf(Order order) { return order == Order::kFifo ? "fifo" : "lifo"; }

}  // namespace holdfast::fault
