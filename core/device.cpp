#include "core/device.h"

#include <charconv>

#include "core/dispatch_state.h"
#include "core/error.h"

namespace fuselet {

std::string to_string(Device device) {
  if (device.type == DeviceType::CPU) return "cpu";
  return "cuda:" + std::to_string(device.index);
}

Device parse_device(std::string_view text) {
  std::string_view kind = text.substr(0, text.find(':'));
  Device device;
  if (kind == "cuda") {
    device = {DeviceType::CUDA, dispatch_state().cuda_device};
  } else if (kind != "cpu") {
    fail("unknown device '", text, "': expected 'cpu', 'cuda' or 'cuda:N'");
  }
  if (kind.size() < text.size()) {
    std::string_view digits = text.substr(kind.size() + 1);
    int index = -1;
    auto [end, err] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    FUSELET_CHECK(err == std::errc() && end == digits.data() + digits.size() && index >= 0, "device '", text,
                  "': expected a number after the colon");
    FUSELET_CHECK(index < kMaxCudaDevices, "device '", text, "': at most ", kMaxCudaDevices, " devices are served");
    FUSELET_CHECK(device.type != DeviceType::CPU || index == 0, "device '", text, "': there is one CPU device, cpu:0");
    device.index = static_cast<int8_t>(index);
  }
  return device;
}

}  // namespace fuselet
