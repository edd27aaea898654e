#include "fault/model/settings.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>

namespace holdfast::fault::model {
namespace {

bool ParseDelivery(std::string_view value, Delivery* delivery) {
  if (value == "inline") {
    *delivery = Delivery::kInline;
  } else if (value == "thread") {
    *delivery = Delivery::kThread;
  } else if (value == "held") {
    *delivery = Delivery::kHeld;
  } else if (value == "mixed") {
    *delivery = Delivery::kMixed;
  } else {
    return false;
  }
  return true;
}

bool ParseReuse(std::string_view value, HandleReuse* reuse) {
  if (value == "at-once") {
    *reuse = HandleReuse::kAtOnce;
  } else if (value == "never") {
    *reuse = HandleReuse::kNever;
  } else {
    return false;
  }
  return true;
}

bool ParseSeed(std::string_view value, std::uint64_t* seed) {
  int base = 10;
  if (value.starts_with("0x")) {
    value.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *seed, base);
  return error == std::errc() && end == value.data() + value.size();
}

bool ParsePair(std::string_view key, std::string_view value, Settings* settings) {
  if (key == "delivery") return ParseDelivery(value, &settings->delivery);
  if (key == "reuse") return ParseReuse(value, &settings->reuse);
  if (key == "seed") return ParseSeed(value, &settings->seed);
  return false;
}

Settings ReadEnvironment() {
  Settings settings;
  const char* text = std::getenv("HOLDFAST_MODEL");
  std::string error;
  if (text != nullptr && !ParseSettings(text, &settings, &error)) {
    const std::string line = "holdfast model driver: HOLDFAST_MODEL: " + error + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(2);
    _exit(2);
  }
  return settings;
}

// Relaxed everywhere: a knob carries no data, and whoever turns it orders the turn with the calls it is meant for.
std::atomic<Delivery>& DeliveryKnob() {
  static std::atomic<Delivery> knob{InitialSettings().delivery};
  return knob;
}
std::atomic<HandleReuse>& ReuseKnob() {
  static std::atomic<HandleReuse> knob{InitialSettings().reuse};
  return knob;
}

}  // namespace

bool ParseSettings(std::string_view text, Settings* settings, std::string* error) {
  Settings parsed;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || !ParsePair(pair.substr(0, equals), pair.substr(equals + 1), &parsed)) {
      *error = "cannot use '" + std::string(pair) +
               "'; known: delivery=inline|thread|held|mixed, reuse=at-once|never, seed=NUMBER";
      return false;
    }
  }
  *settings = parsed;
  return true;
}

const Settings& InitialSettings() {
  static const Settings settings = ReadEnvironment();
  return settings;
}

Delivery CurrentDelivery() noexcept { return DeliveryKnob().load(std::memory_order_relaxed); }
void SetDelivery(Delivery delivery) noexcept { DeliveryKnob().store(delivery, std::memory_order_relaxed); }
HandleReuse CurrentReuse() noexcept { return ReuseKnob().load(std::memory_order_relaxed); }
void SetReuse(HandleReuse reuse) noexcept { ReuseKnob().store(reuse, std::memory_order_relaxed); }

}  // namespace holdfast::fault::model
