#include "frontend/cpp/data/idx.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "frontend/cpp/data/text.h"
#include "frontend/cpp/values/from_values.h"

namespace fuselet::data {
namespace {

std::optional<DType> dtype_of_code(uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::UInt8;
    case 0x09:
      return DType::Int8;
    case 0x0c:
      return DType::Int32;
    case 0x0d:
      return DType::Float32;
    case 0x0e:
      return DType::Float64;
    default:
      return std::nullopt;
  }
}

}  // namespace

Tensor read_idx(const std::string& path) {
  std::string bytes = read_file(path);
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  FUSELET_CHECK(bytes.size() >= 4, "read_idx: '", path, "' is truncated: ", bytes.size(), " bytes hold no header");
  std::optional<DType> dtype = dtype_of_code(byte(2));
  FUSELET_CHECK(byte(0) == 0 && byte(1) == 0 && dtype, "read_idx: '", path, "' is no IDX file: its first bytes are ",
                int{byte(0)}, " ", int{byte(1)}, " ", int{byte(2)}, " ", int{byte(3)});
  size_t rank = byte(3), header = 4 + 4 * rank;
  FUSELET_CHECK(bytes.size() >= header, "read_idx: '", path, "' is truncated: the header of ", rank,
                " sizes is not complete");
  std::vector<int64_t> sizes;
  // Counted in floating point too, where absurd sizes cannot wrap around.
  double expected = static_cast<double>(header);
  double elements = 1;
  for (size_t d = 0; d < rank; ++d) {
    uint32_t size = 0;
    for (size_t i = 0; i < 4; ++i) size = size << 8 | byte(4 + 4 * d + i);
    sizes.push_back(size);
    elements *= size;
  }
  size_t width = size_of(*dtype);
  expected += elements * static_cast<double>(width);
  FUSELET_CHECK(static_cast<double>(bytes.size()) == expected, "read_idx: '", path, "' is ",
                static_cast<double>(bytes.size()) < expected ? "truncated" : "too long", ": ", bytes.size(),
                " bytes, but the header asks for ", expected);
  for (size_t at = header; width > 1 && at < bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  return copy_bytes(bytes.data() + header, sizes, *dtype);
}

}  // namespace fuselet::data
