// What cuBLASLt is asked for, seen by a table of functions that only take notes: descriptors, one question a kind of
// product, workspaces by stream, and errors. That its results are right only a GPU can say.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "backends/cuda/gemm/cublaslt_gemm.h"
#include "core/error.h"

using namespace fuselet;
using namespace fuselet::cuda;

namespace {

struct LayoutNotes {
  int type;
  uint64_t rows, cols;
  int64_t leading, batch_stride = 0;
  int32_t batch = 0;
};
struct DescNotes {
  int compute, scale;
  std::map<int, int64_t> attributes;
};
struct Product {
  DescNotes desc;
  LayoutNotes a, b, d;
  const void *a_data, *b_data, *d_data, *workspace;
  size_t workspace_bytes;
  uint64_t algo;
  StreamHandle stream;
  std::vector<unsigned char> alpha;
};
struct Notes {
  int questions = 0, live = 0;  // of descriptors
  std::vector<Product> products;
  std::map<int, int64_t> preference;
  size_t workspace_bytes = 1 << 20;
  lt::Status answer = lt::kSuccess, run = lt::kSuccess;
} g_notes;

template <class Object, class Handle>
Object& at(Handle handle) {
  return *reinterpret_cast<Object*>(handle);
}
int64_t number(const void* value, size_t bytes) {
  int64_t n = 0;
  std::memcpy(&n, value, bytes);
  return n;
}

lt::Api noting_api() {
  lt::Api api;
  api.Create = [](lt::Handle* handle) { return *handle = nullptr, ++g_notes.live, lt::kSuccess; };
  api.Destroy = [](lt::Handle) { return --g_notes.live, lt::kSuccess; };
  api.MatmulDescCreate = [](lt::MatmulDesc* desc, int compute, int scale) {
    *desc = reinterpret_cast<lt::MatmulDesc>(new DescNotes{compute, scale, {}});
    return ++g_notes.live, lt::kSuccess;
  };
  api.MatmulDescDestroy = [](lt::MatmulDesc desc) { return delete &at<DescNotes>(desc), --g_notes.live, lt::kSuccess; };
  api.MatmulDescSetAttribute = [](lt::MatmulDesc desc, int attribute, const void* value, size_t bytes) {
    return at<DescNotes>(desc).attributes[attribute] = number(value, bytes), lt::kSuccess;
  };
  api.MatrixLayoutCreate = [](lt::MatrixLayout* layout, int type, uint64_t rows, uint64_t cols, int64_t leading) {
    *layout = reinterpret_cast<lt::MatrixLayout>(new LayoutNotes{type, rows, cols, leading});
    return ++g_notes.live, lt::kSuccess;
  };
  api.MatrixLayoutDestroy = [](lt::MatrixLayout layout) {
    return delete &at<LayoutNotes>(layout), --g_notes.live, lt::kSuccess;
  };
  api.MatrixLayoutSetAttribute = [](lt::MatrixLayout layout, int attribute, const void* value, size_t bytes) {
    if (attribute == lt::kLayoutBatchCount) at<LayoutNotes>(layout).batch = static_cast<int32_t>(number(value, bytes));
    if (attribute == lt::kLayoutBatchStride) at<LayoutNotes>(layout).batch_stride = number(value, bytes);
    return lt::kSuccess;
  };
  api.MatmulPreferenceCreate = [](lt::Preference* p) {
    return *p = reinterpret_cast<lt::Preference>(&g_notes), ++g_notes.live, lt::kSuccess;
  };
  api.MatmulPreferenceDestroy = [](lt::Preference) { return --g_notes.live, lt::kSuccess; };
  api.MatmulPreferenceSetAttribute = [](lt::Preference, int attribute, const void* value, size_t bytes) {
    return g_notes.preference[attribute] = number(value, bytes), lt::kSuccess;
  };
  api.MatmulAlgoGetHeuristic = [](lt::Handle, lt::MatmulDesc, lt::MatrixLayout, lt::MatrixLayout, lt::MatrixLayout,
                                  lt::MatrixLayout, lt::Preference, int, lt::HeuristicResult* result, int* found) {
    *found = g_notes.answer == lt::kSuccess ? 1 : 0;
    *result = {};
    result->algo.data[0] = static_cast<uint64_t>(++g_notes.questions);
    result->workspace_bytes = g_notes.workspace_bytes;
    return g_notes.answer;
  };
  api.Matmul = [](lt::Handle, lt::MatmulDesc desc, const void* alpha, const void* a, lt::MatrixLayout a_layout,
                  const void* b, lt::MatrixLayout b_layout, const void*, const void*, lt::MatrixLayout, void* d,
                  lt::MatrixLayout d_layout, const lt::Algo* algo, void* workspace, size_t workspace_bytes,
                  StreamHandle stream) {
    const auto* bytes = static_cast<const unsigned char*>(alpha);
    const DescNotes& notes = at<DescNotes>(desc);
    g_notes.products.push_back({notes,
                                at<LayoutNotes>(a_layout),
                                at<LayoutNotes>(b_layout),
                                at<LayoutNotes>(d_layout),
                                a,
                                b,
                                d,
                                workspace,
                                workspace_bytes,
                                algo->data[0],
                                stream,
                                {bytes, bytes + (notes.scale == lt::kReal64 ? 8 : 4)}});
    return g_notes.run;
  };
  return api;
}

StreamHandle stream(uintptr_t i) { return reinterpret_cast<StreamHandle>(i); }

// (4, 8) x (8, 6), all by rows.
GemmDesc small_product() {
  GemmDesc d;
  d.m = 4, d.n = 6, d.k = 8;
  d.a = {0x1000, 8, 1, 0}, d.b = {0x2000, 6, 1, 0}, d.d = {0x3000, 6, 1, 0};
  return d;
}

struct Library {
  lt::Api api = noting_api();
  int workspaces = 0;
  CublasLtGemm gemm{api, [this](StreamHandle) { return static_cast<DevicePtr>(0x100000 * ++workspaces); }};
  Library() { g_notes.questions = 0, g_notes.products.clear(); }
};

}  // namespace

TEST_CASE("cuBLASLt gets a row-major product as its transpose, alpha in the scale's type, and the bias's address") {
  g_notes = {};
  Library library;
  GemmDesc d = small_product();
  d.in = d.out = DType::BFloat16, d.alpha = 0.5;
  d.epilogue = Epilogue::GeluAuxBias, d.bias = 0x4000, d.aux = 0x5000, d.aux_row_stride = 8;
  library.gemm.run(d, stream(1));
  REQUIRE(g_notes.products.size() == 1);
  const Product& p = g_notes.products[0];
  CHECK(p.a_data == reinterpret_cast<void*>(0x2000));
  CHECK(p.b_data == reinterpret_cast<void*>(0x1000));
  CHECK(p.d_data == reinterpret_cast<void*>(0x3000));
  CHECK(p.a.type == lt::kRealBrain16);
  CHECK(p.a.rows == 6);
  CHECK(p.a.cols == 8);
  CHECK(p.d.rows == 6);
  CHECK(p.d.cols == 4);
  CHECK(p.d.batch == 1);
  CHECK(p.desc.compute == lt::kCompute32);
  CHECK(p.desc.attributes.at(lt::kDescTransposeA) == 0);
  CHECK(p.desc.attributes.at(lt::kDescEpilogue) == (32 | 128 | 4));
  CHECK(p.desc.attributes.at(lt::kDescBias) == 0x4000);
  CHECK(p.desc.attributes.at(lt::kDescAux) == 0x5000);
  CHECK(p.desc.attributes.at(lt::kDescAuxLeading) == 8);
  float alpha = 0;
  std::memcpy(&alpha, p.alpha.data(), 4);
  CHECK(alpha == 0.5f);
  // Split sums in the compute type alone, and no more than the workspace that there is.
  CHECK(g_notes.preference.at(lt::kPreferReductions) == 2);
  CHECK(g_notes.preference.at(lt::kPreferWorkspace) == 32 << 20);
  CHECK(g_notes.preference.at(lt::kPreferAlignmentA) == 16);
}

TEST_CASE("sums of A and B change names where the product is swapped") {
  g_notes = {};
  Library library;
  GemmDesc d = small_product();
  d.bias = 0x4000;
  d.epilogue = Epilogue::RowSumsOfA;
  library.gemm.run(d, stream(1));
  CHECK(g_notes.products.back().desc.attributes.at(lt::kDescEpilogue) == lt::kEpilogueSumsOfB);
  d.epilogue = Epilogue::ColumnSumsOfB;
  library.gemm.run(d, stream(1));
  CHECK(g_notes.products.back().desc.attributes.at(lt::kDescEpilogue) == lt::kEpilogueSumsOfA);
}

TEST_CASE("an algorithm is asked for once a kind of product and kept") {
  g_notes = {};
  Library library;
  GemmDesc d = small_product();
  auto algorithm_of = [&](GemmDesc desc) {
    library.gemm.run(desc, stream(1));
    return g_notes.products.back().algo;
  };
  auto changed = [&](auto change) {
    GemmDesc other = d;
    change(other);
    return algorithm_of(other);
  };
  CHECK(algorithm_of(d) == 1);
  // Addresses, alpha, and a bias's address do not matter; alignment does, up to 16 bytes.
  CHECK(changed([](GemmDesc& x) { x.a.data = 0x7010, x.alpha = 3; }) == 1);
  CHECK(changed([](GemmDesc& x) { x.a.data = 0x7004; }) == 2);
  CHECK(changed([](GemmDesc& x) { x.a.data = 0x900c; }) == 2);
  CHECK(changed([](GemmDesc& x) { x.m = 5; }) == 3);
  CHECK(changed([](GemmDesc& x) { x.allow_tf32 = true; }) == 4);
  CHECK(g_notes.products.back().desc.compute == lt::kComputeFastTf32);
  CHECK(changed([](GemmDesc& x) { x.in = x.out = DType::Float16; }) == 5);
  // TF32 is of float32 alone.
  CHECK(changed([](GemmDesc& x) { x.in = x.out = DType::Float16, x.allow_tf32 = true; }) == 5);
  CHECK(changed([](GemmDesc& x) { x.epilogue = Epilogue::Bias, x.bias = 0x4000; }) == 6);
  CHECK(changed([](GemmDesc& x) { x.epilogue = Epilogue::Bias, x.bias = 0x8000; }) == 6);
  CHECK(g_notes.products.back().desc.attributes.at(lt::kDescBias) == 0x8000);
  CHECK(changed([](GemmDesc& x) { x.a = {0x1000, 1, 4, 0}; }) == 7);
  CHECK(algorithm_of(d) == 1);
  CHECK(g_notes.questions == 7);
  GemmDesc empty = d;
  empty.m = 0;
  const size_t before = g_notes.products.size();
  library.gemm.run(empty, stream(1));
  CHECK(g_notes.products.size() == before);
}

TEST_CASE("products of a stream share one workspace; those without need none") {
  g_notes = {};
  Library library;
  GemmDesc d = small_product();
  for (uintptr_t s : {1, 2, 1, 2}) library.gemm.run(d, stream(s));
  CHECK(library.workspaces == 2);
  CHECK(g_notes.products[0].workspace == g_notes.products[2].workspace);
  CHECK(g_notes.products[0].workspace != g_notes.products[1].workspace);
  CHECK(g_notes.products[0].workspace_bytes == CublasLtGemm::kWorkspaceBytes);
  g_notes.workspace_bytes = 0;
  d.m = 7;
  library.gemm.run(d, stream(3));
  CHECK(library.workspaces == 2);
  CHECK(g_notes.products.back().workspace_bytes == 0);
}

TEST_CASE("a product without an algorithm, and a call that fails, are errors that name it; nothing leaks") {
  g_notes = {};
  {
    Library library;
    GemmDesc d = small_product();
    auto message_of = [&] {
      try {
        library.gemm.run(d, stream(1));
      } catch (const Error& e) {
        return std::string(e.what());
      }
      return std::string("no error");
    };
    g_notes.answer = lt::kNotSupported;
    CHECK(message_of().find("cuBLASLt has no algorithm for the product float32 (4, 8) x (8, 6) "
                            "(CUBLAS_STATUS_NOT_SUPPORTED)") != std::string::npos);
    g_notes.answer = lt::kSuccess, g_notes.run = lt::kExecutionFailed;
    CHECK(message_of().find("cublasLtMatmul gave CUBLAS_STATUS_EXECUTION_FAILED (13) for the product float32") !=
          std::string::npos);
    d.a.col_stride = 3;
    CHECK(message_of().find("cuBLASLt: A must be copied first: float32 (4, 8) x (8, 6)") != std::string::npos);
    // The question is asked again after a failure.
    d = small_product(), g_notes.run = lt::kSuccess;
    CHECK(message_of() == "no error");
  }
  CHECK(g_notes.live == 0);
}
