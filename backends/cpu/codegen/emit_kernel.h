// A kernel as one C++ unit without includes.
#pragma once
#include <string>

#include "compiler/lower/kernel.h"

namespace fuselet::cpu::codegen {

// The function that the unit defines, a generated::Runtime its context.
inline constexpr const char* kEntry = "fuselet_kernel";

// Deterministic. The kernel's name stands in the first line alone.
std::string emit_kernel(const kernel::Kernel& kernel);
int64_t scratch_bytes(const kernel::Kernel& kernel);

}  // namespace fuselet::cpu::codegen
