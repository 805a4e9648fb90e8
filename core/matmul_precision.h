// How exactly products of float32 matrices are computed on devices that offer less; products on the CPU, and of other
// dtypes, do not depend on it.
//
// The setting belongs to the thread, in its DispatchState, and to each call at the time it is made; a compiled function
// called under another setting is recorded anew.
#pragma once
#include <cstdint>
#include <string_view>

namespace fuselet {

// Highest: float32 throughout. High and Medium: factors rounded to TF32 (10 bits of mantissa), sums in float32.
enum class MatmulPrecision : uint8_t { Highest, High, Medium };
std::string_view name_of(MatmulPrecision precision);

// "highest", the default, "high" or "medium"; Error for any other text, and inside a compiled function or a recording.
void set_float32_matmul_precision(std::string_view name);
MatmulPrecision float32_matmul_precision();

}  // namespace fuselet
