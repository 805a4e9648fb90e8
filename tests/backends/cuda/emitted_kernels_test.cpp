// Generated CUDA sources of every structure of loops, compiled by NVRTC for two architectures where NVRTC is there.
// What they compute is tested where they run (tests/backends/cuda/operators_test.cpp).
#include <doctest/doctest.h>

#include "backends/cuda/codegen/emit_kernel.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/jit/compile_source.h"
#include "compiler/decompose/decompose.h"
#include "compiler/fuse/fuse.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/run_passes.h"

namespace fuselet {
namespace {

std::vector<kernel::Kernel> kernels_of(const std::string& body) {
  ir::Graph g = decompose(ir::parse("graph \"g\" {\n" + body + "}"));
  run_passes(g, [](std::string_view, const ir::Graph&, bool) {});
  const lower::GraphFacts facts(g, Numerics::Fused);
  std::vector<kernel::Kernel> out;
  for (lower::LoweredKernel& k :
       lower::lower(facts, fuse::fuse(facts, [](const ir::Graph&, const ir::Node&) { return false; })))
    out.push_back(std::move(k.kernel));
  return out;
}

const char* const kGraphs[] = {
    // Pointwise, with broadcasting, a permuted reader, and a comparison.
    R"(
  input %0: f32[37, 20] argument "x"
  input %1: bf16[20] argument "b"
  %2: f32[37, 20] = add(%0, %1)
  %3: f32[37, 20] = gelu_erf(%2)
  %4: f32[20, 37]{1, 20} = transpose(%3, 0, 1)
  %5: f32[20, 37] = mul(%4, 0.3)
  %6: bool[20, 37] = gt(%5, 0.1)
  output %3
  output %6
)",
    // Rows: softmax forward and backward; columns: log_softmax over dim 0.
    R"(
  input %0: f32[33, 700] argument "x"
  input %1: f32[33, 700] argument "g"
  %2: f32[33, 700] = softmax(%0, 1, none)
  %3: f32[33, 700] = softmax_grad(%1, %2, 1)
  %4: f32[33, 700] = log_softmax(%0, 0, none)
  output %2
  output %3
  output %4
)",
    // Rows of 16-bit elements, and column sums on the way.
    R"(
  input %0: bf16[130, 96] argument "x"
  input %1: bf16[96] argument "w"
  input %2: bf16[96] argument "b"
  input %3: bf16[130, 96] argument "g"
  %4: bf16[130, 96], %5: f32[130, 1], %6: f32[130, 1] = layer_norm_forward(%0, [96], %1, %2, 1e-05)
  %7: bf16[130, 96], %8: bf16[96], %9: bf16[96] = layer_norm_grad(%3, %0, %5, %6, %1, [96])
  output %4
  output %7
  output %8
  output %9
)",
    // One long row.
    R"(
  input %0: f32[300000] argument "x"
  %1: f32[300000] = mul(%0, %0)
  %2: f32[] = sum(%1, [], false, none)
  output %2
)",
    // Long rows that are read again.
    R"(
  input %0: f16[16, 50304] argument "x"
  %1: f16[16, 50304] = softmax(%0, 1, none)
  output %1
)",
    // One row, whose column sums combine a single element.
    R"(
  input %0: f64[6] argument "g"
  input %1: f64[6] argument "x"
  input %2: f64[1] argument "mean"
  input %3: f64[1] argument "rstd"
  input %4: f64[6] argument "w"
  %5: f64[6], %6: f64[6], %7: f64[6] = layer_norm_grad(%0, %1, %2, %3, %4, [6])
  output %5
  output %6
  output %7
)",
    // Gathering, positions and random numbers.
    R"(
  input %0: f32[11, 64] argument "w"
  input %1: i64[5, 7] argument "i"
  %2: f32[5, 7, 64] = embedding(%0, %1, none)
  %3: bool[5, 7, 64] = bernoulli([5, 7, 64], 0.5, @cpu) draw 0
  %4: f32[5, 7, 64] = mul(%2, %3)
  %5: f32[5, 7, 64] = randn([5, 7, 64], f32, @cpu) draw 1
  %6: f32[5, 7, 64] = add(%4, %5)
  output %6
)",
};

TEST_CASE("every generated source compiles for sm_80 and sm_90") {
  const cuda::NvrtcApi* nvrtc = nullptr;
  try {
    nvrtc = &cuda::nvrtc_library();
  } catch (const Error& e) {
    MESSAGE("skipped: ", std::string(e.what()));
    return;
  }
  for (const char* text : kGraphs) {
    for (const kernel::Kernel& k : kernels_of(text)) {
      for (bool aligned : {true, false}) {
        const cuda::codegen::EmittedKernel emitted = cuda::codegen::emit_kernel(k, aligned);
        CHECK(!emitted.launches.empty());
        if (const char* folder = std::getenv("FUSELET_KEEP_SOURCES")) {
          std::FILE* f =
              std::fopen((std::string(folder) + "/" + k.name + (aligned ? "_a" : "_u") + ".cu").c_str(), "w");
          std::fputs(emitted.source.c_str(), f);
          std::fclose(f);
        }
        for (const char* arch : {"sm_80", "sm_90"}) {
          const auto compiled = cuda::jit::compile_source(*nvrtc, emitted.source, {arch, false});
          CAPTURE(arch);
          CAPTURE(emitted.source.substr(emitted.source.find("struct Arguments")));
          CAPTURE(compiled.messages);
          CHECK(!compiled.image.empty());
          CHECK(compiled.messages == "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace fuselet
