// The text of a hand-written kernel (text_kernel.h) around its body: the pasted headers that hold the project's
// formulas and conversions, and the names of the types that differ between its variants.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"

namespace fuselet::cuda {

// What `values.h` pastes: elements as held values, conversions, formula::add.
inline constexpr const char* kValuesPrelude = "backends/cuda/codegen/prelude/values.h";
// report_failure, for indices out of range.
inline constexpr const char* kPlacesPrelude = "backends/cuda/codegen/prelude/places.h";

// `using <first> = <second>;`
using TypeNames = std::vector<std::pair<const char*, const char*>>;
// `body` sees those types and, without their namespaces, what the pasted headers define.
std::string kernel_source(const std::set<std::string>& headers, const TypeNames& types, const std::string& body);

// What indices are counted in where all of them are below `reach`: blocks go beyond it by less than a block.
const char* index_type(int64_t reach);
// What sums of elements are kept in: float for 16-bit floats, 64 bits for integers and bools.
const char* sum_type(DType dtype);

}  // namespace fuselet::cuda
