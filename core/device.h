// Where a tensor's elements live: a kind of device and an index.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselet {

enum class DeviceType : uint8_t { CPU, CUDA };
inline constexpr int kNumDeviceTypes = 2;
inline constexpr int kMaxCudaDevices = 16;  // of one machine; the largest hosts have that many

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = 0;
  friend bool operator==(Device, Device) = default;
};

// "cpu", "cuda", "cuda:1".
std::string to_string(Device device);
// "cuda" is the thread's current CUDA device. Throws Error for any other text.
Device parse_device(std::string_view text);

}  // namespace fuselet
