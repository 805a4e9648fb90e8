// What the simulated NVRTC gives for a cubin, and cuModuleLoadData takes: this header, then a shared object.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace fuselet::cuda::sim {

struct ImageHeader {
  char magic[8];       // kImageMagic
  uint64_t interface;  // interface_version() of the library that compiled it
  uint64_t bytes;      // of the object
  uint64_t checksum;   // of the object
};
inline constexpr char kImageMagic[8] = {'F', 'L', 'S', 'I', 'M', 'I', 'M', 'G'};

// A hash of the shim, the flags and whether kernels are checked. nvrtcVersion reports it as the minor version, so that
// caches keyed by version hold no stale objects.
unsigned interface_version();

std::string make_image(const std::string& object);
// The object, or nothing if the memory holds no image of this interface.
bool object_of_image(const void* image, std::string& object);

}  // namespace fuselet::cuda::sim
