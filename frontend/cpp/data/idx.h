// Files in IDX format (the one of the MNIST digits): two zero bytes, element type, rank, big-endian sizes, elements.
#pragma once
#include <string>

#include "core/tensor.h"

namespace fuselet::data {

// Element types: unsigned and signed byte, 32-bit integer, float, double; given back as uint8, int8, int32, float32,
// float64. Error naming the file if it is missing, no IDX file, truncated, or longer than its sizes say.
Tensor read_idx(const std::string& path);

}  // namespace fuselet::data
