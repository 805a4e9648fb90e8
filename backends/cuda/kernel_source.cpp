#include "backends/cuda/kernel_source.h"

#include <limits>

#include "backends/codegen/prelude_text.h"
#include "backends/cuda/text_kernel.h"
#include "core/error.h"

namespace fuselet::cuda {

std::string kernel_source(const std::set<std::string>& headers, const TypeNames& types, const std::string& body) {
  std::string text =
      fuselet::codegen::prelude_text(headers) + "\nusing namespace fuselet;\nusing namespace fuselet::device;\n";
  for (const auto& [name, type] : types) text += concat("using ", name, " = ", type, ";\n");
  return text + body;
}

const char* index_type(int64_t reach) {
  return reach <= std::numeric_limits<int32_t>::max() - int64_t{kTextKernelThreads} ? "int" : "long";
}

const char* sum_type(DType dtype) {
  if (dtype == DType::Float64) return "double";
  return is_float(dtype) ? "float" : "long";
}

}  // namespace fuselet::cuda
