// Single elements: every dtype through load and store.
#include "core/element.h"

#include <doctest/doctest.h>

using namespace fuselet;

TEST_CASE("any byte but 0 is true, whoever wrote it") {
  const unsigned char memory[] = {0, 1, 2, 190, 255};
  for (int i = 0; i < 5; ++i) {
    CHECK(load_element(DType::Bool, memory, i) == (i == 0 ? 0 : 1));
    CHECK(load_element_int(DType::Bool, memory, i) == (i == 0 ? 0 : 1));
  }
}

TEST_CASE("what was stored is loaded, by the cast rule") {
  alignas(8) unsigned char memory[32] = {};
  for (int t = 0; t < kNumDTypes; ++t) {
    DType dtype = static_cast<DType>(t);
    store_element(dtype, memory, 1, 3.5);
    double expected = is_float(dtype) ? 3.5 : dtype == DType::Bool ? 1 : 3;
    CHECK(load_element(dtype, memory, 1) == expected);
  }
  store_element(DType::Int8, memory, 0, 1e9);
  CHECK(load_element_int(DType::Int8, memory, 0) == 127);
  store_element_int(DType::Int64, memory, 0, (int64_t{1} << 53) + 1);
  CHECK(load_element_int(DType::Int64, memory, 0) == (int64_t{1} << 53) + 1);
}
