// The device itself: memory, contexts, threads, programs.
#include <atomic>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/backends/cuda_sim/sim_device.h"

using namespace fuselet::cuda;
using namespace fuselet::cuda::sim_test;

namespace {

void set_memory(size_t bytes) { reinterpret_cast<void (*)(size_t)>(symbol("fuselet_cuda_sim_set_memory"))(bytes); }

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// The file and what it includes in quotes, each once, as the kernels' prelude pastes them.
void paste(const std::string& name, std::vector<std::string>& seen, std::string& out) {
  for (const std::string& s : seen)
    if (s == name) return;
  seen.push_back(name);
  bool is_generated = name.find("derived_formulas") != std::string::npos;
  std::istringstream lines(text_of((is_generated ? FUSELET_GENERATED_DIR "/" : FUSELET_SOURCE_DIR "/") + name));
  std::string body;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("#include \"") == 0) {
      paste(line.substr(10, line.rfind('"') - 10), seen, out);
    } else if (line != "#pragma once") {
      body += line + "\n";
    }
  }
  out += body;
}

}  // namespace

TEST_CASE("cuda_sim: every entry of both tables is filled") {
#define CHECK_ENTRY(member, symbol, parameters) CHECK((api().member != nullptr) == true);
  FUSELET_CUDA_DRIVER(CHECK_ENTRY)
#undef CHECK_ENTRY
#define CHECK_ENTRY(member, symbol, parameters) CHECK((nvrtc().member != nullptr) == true);
  FUSELET_NVRTC(CHECK_ENTRY)
#undef CHECK_ENTRY
}

TEST_CASE("cuda_sim: what the device says of itself") {
  begin();
  char name[64];
  CHECK(api().cuDeviceGetName(name, sizeof name, 0) == kSuccess);
  CHECK(std::string(name) == "fuselet simulated device");
  int count = 0, major = 0, minor = -1, archs[8] = {};
  CHECK(api().cuDeviceGetCount(&count) == kSuccess);
  CHECK(count == 1);
  CHECK(api().cuDeviceGetAttribute(&major, kAttributeComputeCapabilityMajor, 0) == kSuccess);
  CHECK(api().cuDeviceGetAttribute(&minor, kAttributeComputeCapabilityMinor, 0) == kSuccess);
  CHECK(major * 10 + minor == 90);
  CHECK(nvrtc().nvrtcGetNumSupportedArchs(&count) == 0);
  REQUIRE(count == 2);
  CHECK(nvrtc().nvrtcGetSupportedArchs(archs) == 0);
  CHECK(archs[1] == 90);
  const char* text;
  CHECK(api().cuGetErrorName(kErrorIllegalAddress, &text) == kSuccess);
  CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(api().cuGetErrorString(12345, &text) == kErrorInvalidValue);
  StreamHandle stream;
  std::thread([&] { CHECK(api().cuStreamCreate(&stream, 0) == kErrorInvalidContext); }).join();
}

TEST_CASE("cuda_sim: memory runs out, and comes back") {
  begin();
  size_t before, free, total;
  CHECK(api().cuMemGetInfo(&before, &total) == kSuccess);
  size_t used = total - before;
  set_memory(used + (10 << 20));
  DevicePtr a, b, c;
  CHECK(api().cuMemAlloc(&a, 6 << 20) == kSuccess);
  CHECK(api().cuMemAlloc(&b, 5 << 20) == kErrorOutOfMemory);
  CHECK(api().cuMemAlloc(&b, 4 << 20) == kSuccess);
  CHECK(api().cuMemGetInfo(&free, nullptr) == kSuccess);
  CHECK(free == 0);
  CHECK(api().cuMemAlloc(&c, 1) == kErrorOutOfMemory);
  CHECK(api().cuMemFree(a) == kSuccess);
  CHECK(api().cuMemAlloc(&c, 6 << 20) == kSuccess);
  CHECK(a % 256 == 0);
  CHECK(c != a);  // freed addresses rest
  CHECK(api().cuMemFree(b) == kSuccess);
  CHECK(api().cuMemFree(c) == kSuccess);
  CHECK(api().cuMemAlloc(&c, 0) == kErrorInvalidValue);
  CHECK(api().cuMemFree(0) == kSuccess);
  set_memory(total);
  CHECK(take_reports().empty());
}

TEST_CASE("cuda_sim: addresses are reused only when all have been used") {
  begin();
  // 200 times 64 MiB is more than the address space.
  for (int i = 0; i < 200; ++i) {
    DevicePtr memory;
    REQUIRE(api().cuMemAlloc(&memory, 64 << 20) == kSuccess);
    REQUIRE(api().cuMemFree(memory) == kSuccess);
  }
  CHECK(take_reports().empty());
}

TEST_CASE("cuda_sim: threads share the device") {
  begin();
  const char* source = R"cuda(
extern "C" __global__ void fill(int* y, int value) {
  __shared__ int s[32];
  s[threadIdx.x] = value;
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}
)cuda";
  FunctionHandle fill = kernel("threads.cu", source, "fill");
  ContextHandle context;
  CHECK(api().cuCtxGetCurrent(&context) == kSuccess);
  std::atomic<int> wrong{0};
  auto work = [&](int value) {
    api().cuCtxSetCurrent(context);
    StreamHandle stream;
    DevicePtr memory;
    wrong += api().cuStreamCreate(&stream, 0) != kSuccess;
    wrong += api().cuMemAlloc(&memory, 4 * 128) != kSuccess;
    for (int i = 0; i < 50; ++i) {
      wrong += launch(fill, {4, 32}, stream, memory, value + i) != kSuccess;
      int back[128];
      wrong += api().cuMemcpyDtoHAsync(back, memory, sizeof back, stream) != kSuccess;
      for (int b : back) wrong += b != value + i;
    }
    wrong += api().cuMemFree(memory) != kSuccess;
    wrong += api().cuStreamDestroy(stream) != kSuccess;
  };
  std::thread a(work, 1000), b(work, 2000);
  a.join();
  b.join();
  CHECK(wrong == 0);
  CHECK(take_reports().empty());
}

TEST_CASE("cuda_sim: programs that do not compile, images that are none") {
  begin();
  std::string image;
  std::string log = compile("broken.cu", "extern \"C\" __global__ void k() {\n  int x = ;\n}\n", {}, image);
  CHECK(log.find("broken.cu:2:") != std::string::npos);
  CHECK(compile("bad.cu", "", {"sm_90"}, image).find("not an option") != std::string::npos);
  const char* source = "extern \"C\" __global__ void k(int* p) { *p = 1; }\n__global__ void mangled() {}\n";
  REQUIRE(compile("folder/good one.cu", source, {"-arch=compute_90", "--use_fast_math", "-lineinfo"}, image).empty());
  ModuleHandle module;
  FunctionHandle function;
  CHECK(api().cuModuleLoadData(&module, image.data()) == kSuccess);
  CHECK(api().cuModuleGetFunction(&function, module, "k") == kSuccess);
  CHECK(api().cuModuleGetFunction(&function, module, "mangled") == kErrorNotFound);
  CHECK(api().cuModuleUnload(module) == kSuccess);
  CHECK(api().cuModuleUnload(module) == kErrorInvalidHandle);
  std::string damaged = image;
  damaged[damaged.size() / 2] ^= 1;
  CHECK(api().cuModuleLoadData(&module, damaged.data()) == 200);
  CHECK(api().cuModuleLoadData(&module, "no image of any kind, to be sure") == 200);
}

TEST_CASE("cuda_sim: the shared formulas compile and run as they do on a device") {
  begin();
  std::vector<std::string> seen;
  std::string source;
  paste("core/ops/derived_formulas.h", seen, source);
  paste("core/random_values.h", seen, source);
  source += R"cuda(
namespace f = fuselet::formula;
extern "C" __global__ void formulas(const float* x, float* y, double* z, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  y[4 * i] = f::exp(x[i]);
  y[4 * i + 1] = f::gelu_tanh(x[i]);
  y[4 * i + 2] = f::tanh(x[i]);
  y[4 * i + 3] = fuselet::philox::normal_float(7, 1, i);
  z[i] = f::erf((double)x[i]);
}
)cuda";
  FunctionHandle formulas = kernel("formulas.cu", source.c_str(), "formulas");
  std::vector<float> x = {0.0f, 1.0f, -2.0f, 200.0f, -0.5f};
  Buffer a(x), y(x.size() * 16), z(x.size() * 8);
  CHECK(launch(formulas, {1, 32}, stream(), a.at(), y.at(), z.at(), static_cast<int>(x.size())) == kSuccess);
  std::vector<float> got = y.read<float>(x.size() * 4);
  std::vector<double> erfs = z.read<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    double d = x[i], inner = 0.7978845608028654 * (d + 0.044715 * d * d * d);
    if (d < 88) CHECK(got[4 * i] == doctest::Approx(std::exp(d)).epsilon(1e-6));
    CHECK(got[4 * i + 1] == doctest::Approx(0.5 * d * (1 + std::tanh(inner))).epsilon(1e-5));
    CHECK(got[4 * i + 2] == doctest::Approx(std::tanh(d)).epsilon(1e-6));
    CHECK(std::abs(got[4 * i + 3]) < 6.8f);
    CHECK(erfs[i] == doctest::Approx(std::erf(d)).epsilon(1e-14));
  }
  CHECK(finish() == kSuccess);
  CHECK(take_reports().empty());
}
