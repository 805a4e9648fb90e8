// Files in safetensors format: 8 bytes of little-endian header length, a JSON header, the tensors' bytes.
//
// Reading checks everything before any tensor exists: header syntax, dtypes, sizes against offsets, offsets that
// overlap, leave holes or end elsewhere than the file does. A truncated or damaged file is an Error that names it.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace fuselet {

struct SafetensorsFile {
  // In the order of the header.
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> metadata;
};

// Names must differ and not be "__metadata__". The file appears whole or not at all.
void save_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
SafetensorsFile load_safetensors(const std::string& path);
// The same from and to memory; `origin` is what errors name.
std::string safetensors_header(const std::vector<std::pair<std::string, Tensor>>& tensors,
                               const std::map<std::string, std::string>& metadata);
SafetensorsFile parse_safetensors(std::string_view bytes, const std::string& origin);

}  // namespace fuselet
