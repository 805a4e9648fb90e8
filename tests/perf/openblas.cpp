#include "tests/perf/openblas.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <vector>

namespace fuselet::perf {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;  // cblas.h

template <class Int, class T>
using Gemm = void (*)(int layout, int trans_a, int trans_b, Int m, Int n, Int k, T alpha, const T* a, Int lda,
                      const T* b, Int ldb, T beta, T* c, Int ldc);

template <class Int, class T>
void call_gemm(void* function, bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const T* a,
               int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  const auto narrow = [](int64_t x) { return static_cast<Int>(x); };
  reinterpret_cast<Gemm<Int, T>>(function)(kRowMajor, a_transposed ? kTranspose : kNoTranspose,
                                           b_transposed ? kTranspose : kNoTranspose, narrow(m), narrow(n), narrow(k),
                                           T(1), a, narrow(lda), b, narrow(ldb), T(0), c, narrow(ldc));
}

// The spellings of one symbol: Debian's, 64-bit integers, scipy-openblas's prefix, and both.
struct Spelling {
  const char *prefix, *suffix;
};
constexpr std::array<Spelling, 4> kSpellings{{{"scipy_", "64_"}, {"scipy_", ""}, {"", "64_"}, {"", ""}}};

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::error_code missing;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) found.push_back(entry.path());
  return found;
}

}  // namespace

std::string find_openblas(const std::string& root) {
  for (const auto& python : entries(std::filesystem::path(root) / "lib")) {
    for (const auto& file : entries(python / "site-packages" / "numpy.libs")) {
      if (file.filename().string().find("openblas") != std::string::npos) return file.string();
    }
  }
  if (void* debian = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
    dlclose(debian);
    return "libopenblas.so.0";
  }
  return {};
}

std::optional<OpenBlas> load_openblas(const std::string& path, std::string* reason) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *reason = dlerror();
    return std::nullopt;
  }
  for (const Spelling& spelling : kSpellings) {
    const auto symbol = [&](const char* name) {
      return dlsym(library, (std::string(spelling.prefix) + name + spelling.suffix).c_str());
    };
    OpenBlas blas;
    blas.sgemm_ = symbol("cblas_sgemm");
    blas.dgemm_ = symbol("cblas_dgemm");
    blas.set_threads_ = symbol("openblas_set_num_threads");
    void* core = symbol("openblas_get_corename");
    void* config = symbol("openblas_get_config");
    if (!blas.sgemm_ || !blas.dgemm_ || !blas.set_threads_ || !core || !config) continue;
    blas.path = path;
    blas.core = reinterpret_cast<char* (*)()>(core)();
    blas.config = reinterpret_cast<char* (*)()>(config)();
    blas.has_wide_integers_ = blas.config.find("USE64BITINT") != std::string::npos;
    return blas;
  }
  *reason = path + ": no cblas_sgemm under a known prefix and suffix";
  dlclose(library);
  return std::nullopt;
}

void OpenBlas::sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                     const float* b, int64_t ldb, float* c, int64_t ldc) const {
  const auto call = has_wide_integers_ ? call_gemm<int64_t, float> : call_gemm<int32_t, float>;
  call(sgemm_, a_transposed, b_transposed, m, n, k, a, lda, b, ldb, c, ldc);
}

void OpenBlas::dgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const double* a,
                     int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) const {
  const auto call = has_wide_integers_ ? call_gemm<int64_t, double> : call_gemm<int32_t, double>;
  call(dgemm_, a_transposed, b_transposed, m, n, k, a, lda, b, ldb, c, ldc);
}

void OpenBlas::set_num_threads(int n) const { reinterpret_cast<void (*)(int)>(set_threads_)(n); }

}  // namespace fuselet::perf
