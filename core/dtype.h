// Element types, their sizes and names, and the promotion of two types.
// Promotion follows categories: bool < integer < floating; inside a category the wider type wins, float16 with bfloat16
// gives float32, uint8 with int8 gives the next signed type (here int32).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuselet {

enum class DType : uint8_t { Float64, Float32, Float16, BFloat16, Int64, Int32, Int8, UInt8, Bool };
inline constexpr int kNumDTypes = 9;

inline constexpr DType kFloat64 = DType::Float64, kFloat32 = DType::Float32, kFloat16 = DType::Float16,
                       kBFloat16 = DType::BFloat16, kInt64 = DType::Int64, kInt32 = DType::Int32, kInt8 = DType::Int8,
                       kUInt8 = DType::UInt8, kBool = DType::Bool;

enum class Category : uint8_t { Bool, Int, Float };

constexpr size_t size_of(DType t) {
  constexpr uint8_t kSizes[kNumDTypes] = {8, 4, 2, 2, 8, 4, 1, 1, 1};
  return kSizes[static_cast<int>(t)];
}

constexpr Category category_of(DType t) {
  return t <= DType::BFloat16 ? Category::Float : t == DType::Bool ? Category::Bool : Category::Int;
}

constexpr bool is_float(DType t) { return category_of(t) == Category::Float; }

// The name that Python shows: "float32".
std::string_view name_of(DType t);
// The name that a printed graph shows: "f32".
std::string_view short_name_of(DType t);
// Accepts both spellings; throws Error for any other text.
DType parse_dtype(std::string_view text);

DType promote(DType a, DType b);

}  // namespace fuselet
