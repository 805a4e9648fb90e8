// The part of cuBLASLt that products need, as a table of function pointers that load_cublaslt() fills.
//
// The binary interface is declared here, so that every build serves every machine: no CUDA header is needed.
// tests/backends/cuda/gemm_cublaslt_abi_test.cpp compares it with cublasLt.h where a toolkit has one. Values are those
// of cuBLASLt 11 to 13, which do not differ.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda::lt {

using Status = int;  // cublasStatus_t
using Handle = struct HandleTag*;
using MatmulDesc = struct MatmulDescTag*;
using MatrixLayout = struct MatrixLayoutTag*;
using Preference = struct PreferenceTag*;

struct Algo {
  uint64_t data[8];
};
struct HeuristicResult {
  Algo algo;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

// cublasStatus_t
inline constexpr Status kSuccess = 0, kNotInitialized = 1, kAllocFailed = 3, kInvalidValue = 7, kArchMismatch = 8,
                        kMappingError = 11, kExecutionFailed = 13, kInternalError = 14, kNotSupported = 15,
                        kLicenseError = 16;
// cudaDataType
inline constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kRealBrain16 = 14;
// cublasComputeType_t
inline constexpr int kCompute32 = 68, kCompute64 = 70, kComputeFastTf32 = 77;
// cublasOperation_t
inline constexpr int32_t kNoTranspose = 0, kTranspose = 1;
// cublasLtMatrixLayoutAttribute_t
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
// cublasLtMatmulDescAttributes_t
inline constexpr int kDescTransposeA = 3, kDescTransposeB = 4, kDescEpilogue = 7, kDescBias = 8, kDescAux = 11,
                     kDescAuxLeading = 12, kDescAuxBatchStride = 13;
// cublasLtMatmulPreferenceAttributes_t
inline constexpr int kPreferWorkspace = 1, kPreferReductions = 3, kPreferAlignmentA = 5, kPreferAlignmentB = 6,
                     kPreferAlignmentC = 7, kPreferAlignmentD = 8;
// cublasLtReductionScheme_t: parts of a sum that is split over blocks, kept and added in the compute type.
inline constexpr uint32_t kReduceInComputeType = 2;
// cublasLtEpilogue_t
inline constexpr uint32_t kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueReluGrad = 136,
                          kEpilogueSum = 16, kEpilogueGelu = 32, kEpilogueGeluGrad = 192, kEpilogueAux = 128,
                          kEpilogueSumsOfA = 256, kEpilogueSumsOfB = 512;

// X(member, parameters); the symbol is "cublasLt" and the member's name.
#define FUSELET_CUBLASLT(X)                                                                                            \
  X(Create, (Handle * handle))                                                                                         \
  X(Destroy, (Handle handle))                                                                                          \
  X(MatmulDescCreate, (MatmulDesc * desc, int compute_type, int scale_type))                                           \
  X(MatmulDescDestroy, (MatmulDesc desc))                                                                              \
  X(MatmulDescSetAttribute, (MatmulDesc desc, int attribute, const void* value, size_t bytes))                         \
  X(MatrixLayoutCreate, (MatrixLayout * layout, int type, uint64_t rows, uint64_t cols, int64_t leading))              \
  X(MatrixLayoutDestroy, (MatrixLayout layout))                                                                        \
  X(MatrixLayoutSetAttribute, (MatrixLayout layout, int attribute, const void* value, size_t bytes))                   \
  X(MatmulPreferenceCreate, (Preference * preference))                                                                 \
  X(MatmulPreferenceDestroy, (Preference preference))                                                                  \
  X(MatmulPreferenceSetAttribute, (Preference preference, int attribute, const void* value, size_t bytes))             \
  X(MatmulAlgoGetHeuristic, (Handle handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b, MatrixLayout c,           \
                             MatrixLayout d, Preference preference, int wanted, HeuristicResult* results, int* found)) \
  X(Matmul, (Handle handle, MatmulDesc desc, const void* alpha, const void* a, MatrixLayout a_layout, const void* b,   \
             MatrixLayout b_layout, const void* beta, const void* c, MatrixLayout c_layout, void* d,                   \
             MatrixLayout d_layout, const Algo* algo, void* workspace, size_t workspace_bytes, StreamHandle stream))

struct Api {
#define FUSELET_MEMBER(member, parameters) Status(*member) parameters = nullptr;
  FUSELET_CUBLASLT(FUSELET_MEMBER)
#undef FUSELET_MEMBER
  size_t (*GetVersion)() = nullptr;
};

// The name of a status, "CUBLAS_STATUS_NOT_SUPPORTED".
const char* name_of(Status status);
// Fills the table from an open library; returns the first symbol that is missing, nullptr if none is.
const char* fill_table(Api* api, void* library);

}  // namespace fuselet::cuda::lt
