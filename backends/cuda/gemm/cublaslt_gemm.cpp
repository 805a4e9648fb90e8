#include "backends/cuda/gemm/cublaslt_gemm.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/gemm/column_major.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

// cuBLASLt's kernels ask for no more than the 16 bytes of one access.
constexpr DevicePtr kLargestAlignment = 16;

uint32_t alignment_of(DevicePtr data) {
  return static_cast<uint32_t>(data == 0 ? kLargestAlignment : std::min(data & (~data + 1), kLargestAlignment));
}

// All that the choice of an algorithm depends on. Fields of one size, so that no byte is padding.
struct PlanKey {
  int64_t sizes[4];                                    // m, n, k, batch by columns
  int64_t leading[4], batch_strides[4], alignment[6];  // of A, B, C, D; then of bias and aux
  int64_t aux_leading, aux_batch_stride;
  int64_t in, out, allow_tf32, epilogue, transpose_a, transpose_b, swapped, reads_c;
};

PlanKey key_of(const GemmDesc& desc, const ColumnMajorGemm& g) {
  PlanKey key = {};
  key.sizes[0] = g.m, key.sizes[1] = g.n, key.sizes[2] = g.k, key.sizes[3] = g.batch;
  const ColumnMatrix* matrices[] = {&g.a, &g.b, &g.c, &g.d};
  for (size_t i = 0; i < 4; ++i) {
    key.leading[i] = matrices[i]->leading;
    key.batch_strides[i] = matrices[i]->batch_stride;
    key.alignment[i] = alignment_of(matrices[i]->data);
  }
  key.alignment[4] = alignment_of(desc.bias), key.alignment[5] = alignment_of(desc.aux);
  key.aux_leading = desc.aux_row_stride, key.aux_batch_stride = desc.aux_batch_stride;
  key.in = static_cast<int64_t>(desc.in), key.out = static_cast<int64_t>(desc.out);
  key.allow_tf32 = desc.allow_tf32 && desc.in == DType::Float32;
  key.epilogue = static_cast<int64_t>(desc.epilogue);
  key.transpose_a = g.transpose_a, key.transpose_b = g.transpose_b, key.swapped = g.swapped;
  key.reads_c = desc.beta != 0;
  return key;
}

int data_type(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return lt::kReal64;
    case DType::Float16:
      return lt::kReal16;
    case DType::BFloat16:
      return lt::kRealBrain16;
    default:
      return lt::kReal32;
  }
}

int compute_type(const GemmDesc& desc) {
  if (desc.in == DType::Float64) return lt::kCompute64;
  return desc.in == DType::Float32 && desc.allow_tf32 ? lt::kComputeFastTf32 : lt::kCompute32;
}

uint32_t epilogue_of(Epilogue e, bool swapped) {
  using namespace lt;
  switch (e) {
    case Epilogue::None:
      return kEpilogueDefault;
    case Epilogue::Bias:
      return kEpilogueBias;
    case Epilogue::Relu:
      return kEpilogueRelu;
    case Epilogue::ReluBias:
      return kEpilogueRelu | kEpilogueBias;
    case Epilogue::ReluAux:
      return kEpilogueRelu | kEpilogueAux;
    case Epilogue::ReluAuxBias:
      return kEpilogueRelu | kEpilogueAux | kEpilogueBias;
    case Epilogue::Gelu:
      return kEpilogueGelu;
    case Epilogue::GeluBias:
      return kEpilogueGelu | kEpilogueBias;
    case Epilogue::GeluAux:
      return kEpilogueGelu | kEpilogueAux;
    case Epilogue::GeluAuxBias:
      return kEpilogueGelu | kEpilogueAux | kEpilogueBias;
    case Epilogue::ReluGrad:
      return kEpilogueReluGrad;
    case Epilogue::ReluGradSum:
      return kEpilogueReluGrad | kEpilogueSum;
    case Epilogue::GeluGrad:
      return kEpilogueGeluGrad;
    case Epilogue::GeluGradSum:
      return kEpilogueGeluGrad | kEpilogueSum;
    case Epilogue::RowSumsOfA:
      return swapped ? kEpilogueSumsOfB : kEpilogueSumsOfA;
    case Epilogue::ColumnSumsOfB:
      return swapped ? kEpilogueSumsOfA : kEpilogueSumsOfB;
  }
  return kEpilogueDefault;
}

void check_status(lt::Status status, const char* call, const GemmDesc& desc) {
  FUSELET_CHECK(status == lt::kSuccess, "cuBLASLt: cublasLt", call, " gave ", lt::name_of(status), " (", status,
                ") for the product ", to_string(desc));
}

template <class T>
void set(const lt::Api& api, lt::MatmulDesc to, int attribute, T value, const GemmDesc& desc) {
  check_status(api.MatmulDescSetAttribute(to, attribute, &value, sizeof(T)), "MatmulDescSetAttribute", desc);
}

const void* pointer(DevicePtr data) { return reinterpret_cast<const void*>(static_cast<uintptr_t>(data)); }

struct PreferenceOwner {
  const lt::Api& api;
  lt::Preference value = nullptr;
  ~PreferenceOwner() {
    if (value) api.MatmulPreferenceDestroy(value);
  }
};

}  // namespace

// The library's descriptors of a product, and its algorithm.
struct CublasLtGemm::Plan {
  explicit Plan(const lt::Api& owner) : api(owner) {}
  ~Plan() {
    for (lt::MatrixLayout layout : layouts) {
      if (layout) api.MatrixLayoutDestroy(layout);
    }
    if (desc) api.MatmulDescDestroy(desc);
  }
  Plan(const Plan&) = delete;

  void describe(const GemmDesc& product, const ColumnMajorGemm& g);
  void set_addresses(const GemmDesc& product) const;
  void choose_algorithm(lt::Handle handle, const GemmDesc& product, const PlanKey& key);

  const lt::Api& api;
  lt::MatmulDesc desc = nullptr;
  lt::MatrixLayout layouts[4] = {};  // A, B, C, D
  lt::Algo algo = {};
  size_t workspace_bytes = 0;
};

void CublasLtGemm::Plan::describe(const GemmDesc& product, const ColumnMajorGemm& g) {
  const int scale = product.in == DType::Float64 ? lt::kReal64 : lt::kReal32;
  check_status(api.MatmulDescCreate(&desc, compute_type(product), scale), "MatmulDescCreate", product);
  set(api, desc, lt::kDescTransposeA, g.transpose_a ? lt::kTranspose : lt::kNoTranspose, product);
  set(api, desc, lt::kDescTransposeB, g.transpose_b ? lt::kTranspose : lt::kNoTranspose, product);
  set(api, desc, lt::kDescEpilogue, epilogue_of(product.epilogue, g.swapped), product);
  if (has_aux(product.epilogue)) {
    set(api, desc, lt::kDescAuxLeading, product.aux_row_stride, product);
    set(api, desc, lt::kDescAuxBatchStride, product.aux_batch_stride, product);
  }
  const ColumnMatrix* matrices[] = {&g.a, &g.b, &g.c, &g.d};
  for (size_t i = 0; i < 4; ++i) {
    const ColumnMatrix& x = *matrices[i];
    check_status(api.MatrixLayoutCreate(&layouts[i], data_type(i < 2 ? product.in : product.out),
                                        static_cast<uint64_t>(x.rows), static_cast<uint64_t>(x.cols), x.leading),
                 "MatrixLayoutCreate", product);
    const auto count = static_cast<int32_t>(g.batch);
    check_status(api.MatrixLayoutSetAttribute(layouts[i], lt::kLayoutBatchCount, &count, sizeof count),
                 "MatrixLayoutSetAttribute", product);
    check_status(
        api.MatrixLayoutSetAttribute(layouts[i], lt::kLayoutBatchStride, &x.batch_stride, sizeof x.batch_stride),
        "MatrixLayoutSetAttribute", product);
  }
}

void CublasLtGemm::Plan::set_addresses(const GemmDesc& product) const {
  if (has_bias(product.epilogue)) set(api, desc, lt::kDescBias, pointer(product.bias), product);
  if (has_aux(product.epilogue)) set(api, desc, lt::kDescAux, pointer(product.aux), product);
}

void CublasLtGemm::Plan::choose_algorithm(lt::Handle handle, const GemmDesc& product, const PlanKey& key) {
  PreferenceOwner preference{api};
  check_status(api.MatmulPreferenceCreate(&preference.value), "MatmulPreferenceCreate", product);
  auto prefer = [&](int attribute, auto value) {
    check_status(api.MatmulPreferenceSetAttribute(preference.value, attribute, &value, sizeof value),
                 "MatmulPreferenceSetAttribute", product);
  };
  prefer(lt::kPreferWorkspace, static_cast<uint64_t>(kWorkspaceBytes));
  prefer(lt::kPreferReductions, lt::kReduceInComputeType);
  constexpr int kAlignments[] = {lt::kPreferAlignmentA, lt::kPreferAlignmentB, lt::kPreferAlignmentC,
                                 lt::kPreferAlignmentD};
  for (size_t i = 0; i < 4; ++i) prefer(kAlignments[i], static_cast<uint32_t>(key.alignment[i]));
  lt::HeuristicResult result = {};
  int found = 0;
  const lt::Status status = api.MatmulAlgoGetHeuristic(handle, desc, layouts[0], layouts[1], layouts[2], layouts[3],
                                                       preference.value, 1, &result, &found);
  FUSELET_CHECK(status == lt::kSuccess && found > 0 && result.state == lt::kSuccess,
                "cuBLASLt has no algorithm for the product ", to_string(product), " (",
                lt::name_of(status == lt::kSuccess ? result.state : status), ")");
  algo = result.algo;
  workspace_bytes = result.workspace_bytes;
}

CublasLtGemm::CublasLtGemm(const lt::Api& api, WorkspaceSource workspace)
    : api_(api), workspace_source_(std::move(workspace)) {
  const lt::Status status = api_.Create(&handle_);
  FUSELET_CHECK(status == lt::kSuccess, "cuBLASLt: cublasLtCreate gave ", lt::name_of(status), " (", status, ")");
}

CublasLtGemm::~CublasLtGemm() {
  plans_.clear();
  api_.Destroy(handle_);
}

const CublasLtGemm::Plan& CublasLtGemm::plan_of(const GemmDesc& desc) {
  const ColumnMajorGemm g = column_major(desc);
  const PlanKey key = key_of(desc, g);
  std::unique_ptr<Plan>& kept = plans_[std::string(reinterpret_cast<const char*>(&key), sizeof key)];
  if (!kept) {
    auto plan = std::make_unique<Plan>(api_);
    plan->describe(desc, g);
    plan->set_addresses(desc);
    plan->choose_algorithm(handle_, desc, key);
    kept = std::move(plan);
  } else {
    kept->set_addresses(desc);
  }
  return *kept;
}

void CublasLtGemm::enqueue(const GemmDesc& desc, StreamHandle stream) {
  const ColumnMajorGemm g = column_major(desc);
  const float alpha32 = static_cast<float>(desc.alpha), beta32 = static_cast<float>(desc.beta);
  const bool wide = desc.in == DType::Float64;
  std::lock_guard lock(mutex_);
  const Plan& plan = plan_of(desc);
  DevicePtr workspace = 0;
  if (plan.workspace_bytes > 0) {
    DevicePtr& kept = workspaces_[stream];
    if (kept == 0) kept = workspace_source_(stream);
    workspace = kept;
  }
  check_status(
      api_.Matmul(handle_, plan.desc, wide ? static_cast<const void*>(&desc.alpha) : &alpha32, pointer(g.a.data),
                  plan.layouts[0], pointer(g.b.data), plan.layouts[1],
                  wide ? static_cast<const void*>(&desc.beta) : &beta32, pointer(g.c.data), plan.layouts[2],
                  const_cast<void*>(pointer(g.d.data)), plan.layouts[3], &plan.algo,
                  reinterpret_cast<void*>(static_cast<uintptr_t>(workspace)), workspace ? kWorkspaceBytes : 0, stream),
      "Matmul", desc);
}

}  // namespace fuselet::cuda
