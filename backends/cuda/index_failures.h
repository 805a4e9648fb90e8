// Indices out of range that kernels have met. A launch does not wait, so the error comes when the host next waits for
// the device: then it names the operator.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fuselet::cuda {

// Texts of errors by the codes, from 1 on, under which kernels report them. Their number is bounded, for sizes and
// lines of programs are not: after `most` texts new ones leave the size out, after twice as many all say the same.
class FailureTexts {
 public:
  explicit FailureTexts(int64_t most) : most_(most) {}
  int64_t code_of(const std::string& reader, int64_t size);
  const std::string& text_of(int64_t code) const { return texts_[static_cast<size_t>(code - 1)]; }

 private:
  int64_t most_;
  std::map<std::string, int64_t> codes_;
  std::vector<std::string> texts_;
};

// What kernels leave there: 0, or the code of the first failure. Memory that the host and the device share.
int* failure_cell(int device);
// The code for what `reader` reads at indices into a dimension of that size.
int64_t failure_code(const std::string& reader, int64_t size);
// IndexError if a kernel of the device has met one since the last call. To be called when the host has waited.
void raise_index_failure(int device);

}  // namespace fuselet::cuda
