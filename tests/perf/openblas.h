// OpenBLAS for comparison, loaded at run time; nothing links against it.
//
// find_openblas() takes the library that numpy's wheel bundles in an environment below `root`, else Debian's
// libopenblas.so.0. load_openblas() accepts 32-bit and 64-bit integer builds, with or without a symbol prefix and
// suffix. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE slow it down: without them in the environment it picks its own core,
// whose name `core` gives; figures of a generic core (Prescott) are no yardstick.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fuselet::perf {

class OpenBlas {
 public:
  std::string path;
  std::string core;
  std::string config;

  // C = A B; row-major, or with an operand stored transposed. ld*: elements between stored rows.
  void sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
             const float* b, int64_t ldb, float* c, int64_t ldc) const;
  void dgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
             const double* b, int64_t ldb, double* c, int64_t ldc) const;
  void set_num_threads(int n) const;

 private:
  friend std::optional<OpenBlas> load_openblas(const std::string& path, std::string* reason);
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
  void* set_threads_ = nullptr;
  bool has_wide_integers_ = false;
};

// Empty when there is none.
std::string find_openblas(const std::string& root);

// nullopt, with the reason, when the library or one of its symbols is missing. The library stays loaded.
std::optional<OpenBlas> load_openblas(const std::string& path, std::string* reason);

}  // namespace fuselet::perf
