// The declarations of cublaslt_api.h against cublasLt.h, where a toolkit has it; and against the library itself, whose
// descriptors check the size of every attribute and need no GPU.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "backends/cuda/gemm/cublaslt_api.h"

#if __has_include(<cublasLt.h>)
#define FUSELET_HAS_CUBLASLT_H 1
#include <cublasLt.h>
#endif

namespace lt = fuselet::cuda::lt;

#ifdef FUSELET_HAS_CUBLASLT_H

namespace {

// The same binary form: enums are ints, pointers are pointers of the same depth of const.
template <class T, class = void>
struct Form {
  using type = T;
};
template <class T>
struct Form<T, std::enable_if_t<std::is_enum_v<T>>> {
  using type = std::conditional_t<sizeof(T) == sizeof(int), int, T>;
};
template <class T>
struct Form<T*> {
  using type = std::conditional_t<std::is_const_v<T>, const void*, void*>;
};
template <class R, class... A>
struct Form<R (*)(A...)> {
  using type = typename Form<R>::type (*)(typename Form<A>::type...);
};

template <class Ours, class Theirs>
constexpr bool kSameForm = std::is_same_v<typename Form<Ours>::type, typename Form<Theirs*>::type>;
// A pointer to a function is compared as a function.
template <class Ours, class R, class... A>
constexpr bool kSameForm<Ours, R(A...)> =
    std::is_same_v<typename Form<Ours>::type, typename Form<R>::type (*)(typename Form<A>::type...)>;

#define FUSELET_COMPARE(member, parameters) \
  static_assert(kSameForm<decltype(lt::Api::member), decltype(cublasLt##member)>, "cublasLt" #member);
FUSELET_CUBLASLT(FUSELET_COMPARE)
static_assert(kSameForm<decltype(lt::Api::GetVersion), decltype(cublasLtGetVersion)>);

static_assert(sizeof(lt::Algo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(lt::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(lt::HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(lt::HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(lt::HeuristicResult, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

#define SAME(ours, theirs) static_assert(static_cast<long long>(lt::ours) == static_cast<long long>(theirs))
SAME(kSuccess, CUBLAS_STATUS_SUCCESS);
SAME(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(kAllocFailed, CUBLAS_STATUS_ALLOC_FAILED);
SAME(kInvalidValue, CUBLAS_STATUS_INVALID_VALUE);
SAME(kArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(kMappingError, CUBLAS_STATUS_MAPPING_ERROR);
SAME(kExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(kInternalError, CUBLAS_STATUS_INTERNAL_ERROR);
SAME(kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(kLicenseError, CUBLAS_STATUS_LICENSE_ERROR);
SAME(kReal32, CUDA_R_32F);
SAME(kReal64, CUDA_R_64F);
SAME(kReal16, CUDA_R_16F);
SAME(kRealBrain16, CUDA_R_16BF);
SAME(kCompute32, CUBLAS_COMPUTE_32F);
SAME(kCompute64, CUBLAS_COMPUTE_64F);
SAME(kComputeFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(kNoTranspose, CUBLAS_OP_N);
SAME(kTranspose, CUBLAS_OP_T);
SAME(kLayoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(kLayoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(kDescTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(kDescTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(kDescEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(kDescBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(kDescAux, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
SAME(kDescAuxLeading, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
SAME(kDescAuxBatchStride, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
SAME(kPreferWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(kPreferReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(kPreferAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(kPreferAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(kPreferAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(kPreferAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(kReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(kEpilogueDefault, CUBLASLT_EPILOGUE_DEFAULT);
SAME(kEpilogueRelu, CUBLASLT_EPILOGUE_RELU);
SAME(kEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
SAME(kEpilogueGelu, CUBLASLT_EPILOGUE_GELU);
SAME(kEpilogueReluGrad, CUBLASLT_EPILOGUE_DRELU);
SAME(kEpilogueGeluGrad, CUBLASLT_EPILOGUE_DGELU);
SAME(kEpilogueSumsOfA, CUBLASLT_EPILOGUE_BGRADA);
SAME(kEpilogueSumsOfB, CUBLASLT_EPILOGUE_BGRADB);
static_assert((lt::kEpilogueRelu | lt::kEpilogueAux | lt::kEpilogueBias) == CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
static_assert((lt::kEpilogueGelu | lt::kEpilogueAux | lt::kEpilogueBias) == CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
static_assert((lt::kEpilogueReluGrad | lt::kEpilogueSum) == CUBLASLT_EPILOGUE_DRELU_BGRAD);
static_assert((lt::kEpilogueGeluGrad | lt::kEpilogueSum) == CUBLASLT_EPILOGUE_DGELU_BGRAD);
#undef SAME

}  // namespace

#endif

TEST_CASE("cuBLASLt's library takes our table and attributes") {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
                           "/usr/local/cuda-13.0/lib/libcublasLt.so.13"}) {
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    MESSAGE("skipped: no libcublasLt here");
    return;
  }
  lt::Api api;
  const char* missing = lt::fill_table(&api, library);
  INFO("missing: ", missing ? missing : "");
  REQUIRE(missing == nullptr);
  CHECK(api.GetVersion() >= 11000);

  lt::MatmulDesc desc = nullptr;
  REQUIRE(api.MatmulDescCreate(&desc, lt::kCompute32, lt::kReal32) == lt::kSuccess);
  auto set = [&](int attribute, auto value) {
    return api.MatmulDescSetAttribute(desc, attribute, &value, sizeof value);
  };
  CHECK(set(lt::kDescTransposeA, lt::kTranspose) == lt::kSuccess);
  CHECK(set(lt::kDescTransposeB, lt::kNoTranspose) == lt::kSuccess);
  CHECK(set(lt::kDescEpilogue, lt::kEpilogueBias) == lt::kSuccess);
  CHECK(set(lt::kDescBias, static_cast<const void*>(nullptr)) == lt::kSuccess);
  CHECK(set(lt::kDescAux, static_cast<const void*>(nullptr)) == lt::kSuccess);
  CHECK(set(lt::kDescAuxLeading, int64_t{128}) == lt::kSuccess);
  CHECK(set(lt::kDescAuxBatchStride, int64_t{1280}) == lt::kSuccess);
  CHECK(set(lt::kDescTransposeA, char{1}) == lt::kInvalidValue);  // a wrong size is noticed
  CHECK(api.MatmulDescDestroy(desc) == lt::kSuccess);

  lt::MatrixLayout layout = nullptr;
  REQUIRE(api.MatrixLayoutCreate(&layout, lt::kRealBrain16, 4, 6, 4) == lt::kSuccess);
  const int32_t count = 3;
  const int64_t stride = 24;
  CHECK(api.MatrixLayoutSetAttribute(layout, lt::kLayoutBatchCount, &count, sizeof count) == lt::kSuccess);
  CHECK(api.MatrixLayoutSetAttribute(layout, lt::kLayoutBatchStride, &stride, sizeof stride) == lt::kSuccess);
  CHECK(api.MatrixLayoutDestroy(layout) == lt::kSuccess);

  lt::Preference preference = nullptr;
  REQUIRE(api.MatmulPreferenceCreate(&preference) == lt::kSuccess);
  auto prefer = [&](int attribute, auto value) {
    return api.MatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  };
  CHECK(prefer(lt::kPreferWorkspace, uint64_t{1} << 25) == lt::kSuccess);
  CHECK(prefer(lt::kPreferReductions, lt::kReduceInComputeType) == lt::kSuccess);
  for (int alignment : {lt::kPreferAlignmentA, lt::kPreferAlignmentB, lt::kPreferAlignmentC, lt::kPreferAlignmentD})
    CHECK(prefer(alignment, uint32_t{16}) == lt::kSuccess);
  CHECK(api.MatmulPreferenceDestroy(preference) == lt::kSuccess);
}
