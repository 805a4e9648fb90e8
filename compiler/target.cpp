#include "compiler/target.h"

#include <utility>

#include "core/error.h"

namespace fuselet {
namespace {
Target* g_targets[kNumDeviceTypes] = {};
}

const char* name_of(KernelOrigin origin) {
  constexpr const char* kNames[] = {"compiled", "memory cache", "disk cache", "interpreted"};
  return kNames[static_cast<int>(origin)];
}

Target& target_of(DeviceType type) {
  Target* target = g_targets[static_cast<int>(type)];
  FUSELET_CHECK(target, "compile: this build has no code generator for the device '", to_string(Device{type, 0}), "'");
  return *target;
}

void register_target(DeviceType type, Target* target) { g_targets[static_cast<int>(type)] = target; }

}  // namespace fuselet
