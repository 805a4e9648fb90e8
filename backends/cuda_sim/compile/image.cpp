#include "backends/cuda_sim/compile/image.h"

#include <cstring>

#include "backends/cuda_sim/compile/compile_object.h"
#include "backends/cuda_sim/compile/shim_text.h"
#include "backends/cuda_sim/compile/work_folder.h"

namespace fuselet::cuda::sim {

unsigned interface_version() {
  unsigned long long hash = hash_text(kShimText, std::strlen(kShimText));
  for (const std::string& flag : compile_flags()) hash = hash_text(flag.data(), flag.size(), hash);
  return static_cast<unsigned>(hash % 1000000007u);
}

std::string make_image(const std::string& object) {
  ImageHeader header{{}, interface_version(), object.size(), hash_text(object.data(), object.size())};
  std::memcpy(header.magic, kImageMagic, sizeof kImageMagic);
  std::string image(sizeof header, '\0');
  std::memcpy(image.data(), &header, sizeof header);
  return image + object;
}

bool object_of_image(const void* image, std::string& object) {
  ImageHeader header;
  if (std::memcmp(image, kImageMagic, sizeof kImageMagic) != 0) return false;
  std::memcpy(&header, image, sizeof header);
  if (header.interface != interface_version()) return false;
  const char* bytes = static_cast<const char*>(image) + sizeof header;
  if (hash_text(bytes, header.bytes) != header.checksum) return false;
  object.assign(bytes, header.bytes);
  return true;
}

}  // namespace fuselet::cuda::sim
