#include "core/dtype.h"

#include <string>

#include "core/error.h"

namespace fuselet {
namespace {

constexpr std::string_view kNames[kNumDTypes] = {"float64", "float32", "float16", "bfloat16", "int64",
                                                 "int32",   "int8",    "uint8",   "bool"};
constexpr std::string_view kShortNames[kNumDTypes] = {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8", "b8"};

}  // namespace

std::string_view name_of(DType t) { return kNames[static_cast<int>(t)]; }
std::string_view short_name_of(DType t) { return kShortNames[static_cast<int>(t)]; }

DType parse_dtype(std::string_view text) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (text == kNames[i] || text == kShortNames[i]) return static_cast<DType>(i);
  }
  throw Error("unknown dtype '" + std::string(text) + "'");
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  Category ca = category_of(a), cb = category_of(b);
  if (ca != cb) return ca > cb ? a : b;
  if (ca == Category::Float) {
    if (size_of(a) == size_of(b)) return DType::Float32;  // the two 16-bit types
    return size_of(a) > size_of(b) ? a : b;
  }
  if (size_of(a) == size_of(b)) return DType::Int32;  // int8 with uint8
  return size_of(a) > size_of(b) ? a : b;
}

}  // namespace fuselet
