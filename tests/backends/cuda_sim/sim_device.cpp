#include "tests/backends/cuda_sim/sim_device.h"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace fuselet::cuda::sim_test {

namespace {

struct Library {
  void* handle;
  DriverApi driver{};
  NvrtcApi nvrtc{};
  // The endless loop of the tests ends soon.
  Library() : handle((setenv("FUSELET_SIM_STEPS", "1000000", 1), dlopen(FUSELET_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL))) {
    if (handle == nullptr) throw std::runtime_error(dlerror());
    auto fill = reinterpret_cast<FillTables>(dlsym(handle, kSimulatorEntry));
    if (fill(&driver, &nvrtc) != 0) throw std::runtime_error("the tables cannot be filled");
  }
};
Library& library() {
  static Library instance;
  return instance;
}

}  // namespace

const DriverApi& api() { return library().driver; }
const NvrtcApi& nvrtc() { return library().nvrtc; }
void* symbol(const char* name) { return dlsym(library().handle, name); }

void begin() {
  REQUIRE(api().cuInit(0) == kSuccess);
  ContextHandle context;
  REQUIRE(api().cuDevicePrimaryCtxRetain(&context, 0) == kSuccess);
  REQUIRE(api().cuCtxSetCurrent(context) == kSuccess);
  REQUIRE(api().cuCtxSynchronize() == kSuccess);
  REQUIRE(take_reports().empty());
}

std::vector<std::string> take_reports() {
  auto count = reinterpret_cast<int (*)()>(symbol("fuselet_cuda_sim_report_count"));
  auto text = reinterpret_cast<const char* (*)(int)>(symbol("fuselet_cuda_sim_report_text"));
  auto clear = reinterpret_cast<void (*)()>(symbol("fuselet_cuda_sim_clear_reports"));
  std::vector<std::string> reports;
  for (int i = 0; i < count(); ++i) reports.emplace_back(text(i));
  clear();
  return reports;
}

void set_order(const char* order) {
  auto set = reinterpret_cast<int (*)(const char*)>(symbol("fuselet_cuda_sim_set_order"));
  REQUIRE(set(order) == 0);
}
void set_schedule(const char* schedule) {
  auto set = reinterpret_cast<int (*)(const char*)>(symbol("fuselet_cuda_sim_set_schedule"));
  REQUIRE(set(schedule) == 0);
}

std::string compile(const std::string& program, const char* source, const std::vector<const char*>& options,
                    std::string& image) {
  NvrtcProgram handle;
  REQUIRE(nvrtc().nvrtcCreateProgram(&handle, source, program.c_str(), 0, nullptr, nullptr) == 0);
  Result result = nvrtc().nvrtcCompileProgram(handle, static_cast<int>(options.size()), options.data());
  size_t bytes;
  REQUIRE(nvrtc().nvrtcGetProgramLogSize(handle, &bytes) == 0);
  std::string log(bytes, '\0');
  REQUIRE(nvrtc().nvrtcGetProgramLog(handle, log.data()) == 0);
  if (result == 0) {
    REQUIRE(nvrtc().nvrtcGetCUBINSize(handle, &bytes) == 0);
    image.resize(bytes);
    REQUIRE(nvrtc().nvrtcGetCUBIN(handle, image.data()) == 0);
    log.clear();
  }
  REQUIRE(nvrtc().nvrtcDestroyProgram(&handle) == 0);
  return log;
}

FunctionHandle kernel(const std::string& program, const char* source, const char* name) {
  static std::map<std::string, ModuleHandle> modules;
  if (modules.count(program) == 0) {
    std::string image;
    std::string log =
        compile(program, source, {"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false", "-DFACTOR=2"}, image);
    REQUIRE_MESSAGE(log.empty(), log);
    REQUIRE(api().cuModuleLoadData(&modules[program], image.data()) == kSuccess);
  }
  FunctionHandle function = nullptr;
  REQUIRE(api().cuModuleGetFunction(&function, modules[program], name) == kSuccess);
  return function;
}

std::string line_with(const std::string& program, const char* source, const char* text) {
  std::istringstream lines(source);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (line.find(text) != std::string::npos) return program + ":" + std::to_string(number);
  return "no line with " + std::string(text);
}

StreamHandle new_stream() {
  StreamHandle stream = nullptr;
  REQUIRE(api().cuStreamCreate(&stream, kStreamNonBlocking) == kSuccess);
  return stream;
}

StreamHandle stream() {
  static StreamHandle instance = new_stream();
  return instance;
}

Result finish(StreamHandle on) { return api().cuStreamSynchronize(on ? on : stream()); }

Buffer::Buffer(size_t bytes) { REQUIRE(api().cuMemAlloc(&memory_, bytes) == kSuccess); }
Buffer::~Buffer() { api().cuMemFree(memory_); }

void Buffer::copy_in(const void* from, size_t bytes) {
  REQUIRE(api().cuMemcpyHtoDAsync(memory_, from, bytes, stream()) == kSuccess);
  REQUIRE(finish() == kSuccess);
}
void Buffer::copy_out(void* to, size_t bytes) const {
  REQUIRE(api().cuMemcpyDtoHAsync(to, memory_, bytes, stream()) == kSuccess);
}

}  // namespace fuselet::cuda::sim_test
