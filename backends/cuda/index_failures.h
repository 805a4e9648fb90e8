// Indices out of range that kernels have met. A launch does not wait, so the error comes when the host next waits for
// the device: then it names the operator.
#pragma once
#include <cstdint>
#include <string>

namespace fuselet::cuda {

// What kernels leave there: 0, or the code of the first failure. Memory that the host and the device share.
int* failure_cell(int device);
// A code for a LoadAt; `text` is the error's.
int64_t failure_code(const std::string& text);
// IndexError if a kernel of the device has met one since the last call. To be called when the host has waited.
void raise_index_failure(int device);

}  // namespace fuselet::cuda
