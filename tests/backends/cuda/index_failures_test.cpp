#include "backends/cuda/index_failures.h"

#include <doctest/doctest.h>

using fuselet::cuda::FailureTexts;

TEST_CASE("texts of index failures keep their codes and are bounded") {
  FailureTexts texts(3);
  const int64_t first = texts.code_of("gather", 5);
  CHECK(first == 1);
  CHECK(texts.text_of(first) == "gather: an index is out of range for a dimension of size 5");
  CHECK(texts.code_of("gather", 5) == first);
  CHECK(texts.code_of("gather", 6) == 2);
  CHECK(texts.code_of("embedding", 5) == 3);
  // No more sizes, then no more names.
  for (int size = 7; size < 100; ++size)
    CHECK(texts.text_of(texts.code_of("gather", size)) == "gather: an index is out of range");
  CHECK(texts.code_of("gather", 6) == 2);
  for (int i = 0; i < 100; ++i) {
    const int64_t code = texts.code_of("reader " + std::to_string(i), i);
    CHECK(code <= 7);
    if (i > 2) CHECK(texts.text_of(code) == "an index is out of range");
  }
  CHECK(texts.text_of(first) == "gather: an index is out of range for a dimension of size 5");
}
