// The simulated NVRTC: programs, their logs and images.
#include <algorithm>
#include <cstring>

#include "backends/cuda_sim/compile/compile_object.h"
#include "backends/cuda_sim/compile/image.h"
#include "backends/cuda_sim/driver/fill_tables.h"

namespace fuselet::cuda::sim {

namespace {

// nvrtcResult
constexpr Result kNvrtcInvalidInput = 3;
constexpr Result kNvrtcInvalidProgram = 4;
constexpr Result kNvrtcInvalidOption = 5;
constexpr Result kNvrtcCompilation = 6;

constexpr int kArchitectures[] = {80, 90};

struct Program {
  std::string source, name, log, image;
  bool compiled = false;
};
Program* of(NvrtcProgram handle) { return reinterpret_cast<Program*>(handle); }

Result version(int* major, int* minor) {
  *major = 13;
  *minor = static_cast<int>(interface_version());
  return 0;
}

Result get_num_supported_archs(int* count) {
  *count = std::size(kArchitectures);
  return 0;
}

Result get_supported_archs(int* archs) {
  std::copy(std::begin(kArchitectures), std::end(kArchitectures), archs);
  return 0;
}

Result create_program(NvrtcProgram* program, const char* source, const char* name, int num_headers, const char* const*,
                      const char* const*) {
  if (program == nullptr || source == nullptr || num_headers != 0) return kNvrtcInvalidInput;
  *program = reinterpret_cast<NvrtcProgram>(new Program{source, name ? name : "default_program", "", ""});
  return 0;
}

// Definitions; the rest of NVRTC's options say nothing to the host compiler. False if it is no option at all.
bool take_option(std::string option, std::vector<std::string>& definitions) {
  for (const char* longer : {"--define-macro=", "--undefine-macro="})
    if (option.starts_with(longer)) option = (longer[2] == 'd' ? "-D" : "-U") + option.substr(std::strlen(longer));
  if (option.starts_with("-D") || option.starts_with("-U")) definitions.push_back(option);
  return option.starts_with("-");
}

Result compile_program(NvrtcProgram handle, int num_options, const char* const* options) {
  Program* program = of(handle);
  if (program == nullptr) return kNvrtcInvalidProgram;
  std::vector<std::string> definitions;
  for (int i = 0; i < num_options; ++i) {
    if (!take_option(options[i], definitions)) {
      program->log = std::string("not an option: ") + options[i] + "\n";
      return kNvrtcInvalidOption;
    }
  }
  CompiledObject result = compile_object(program->source, program->name, definitions);
  program->log = result.log;
  program->compiled = result.succeeded;
  program->image = result.succeeded ? make_image(result.object) : "";
  return result.succeeded ? 0 : kNvrtcCompilation;
}

Result get_cubin_size(NvrtcProgram handle, size_t* bytes) {
  if (handle == nullptr || !of(handle)->compiled) return kNvrtcInvalidProgram;
  *bytes = of(handle)->image.size();
  return 0;
}

Result get_cubin(NvrtcProgram handle, char* cubin) {
  if (handle == nullptr || !of(handle)->compiled) return kNvrtcInvalidProgram;
  std::memcpy(cubin, of(handle)->image.data(), of(handle)->image.size());
  return 0;
}

// There is no PTX: the image again, with the terminating zero that callers count.
Result get_ptx_size(NvrtcProgram handle, size_t* bytes) {
  Result result = get_cubin_size(handle, bytes);
  if (result == 0) ++*bytes;
  return result;
}

Result get_ptx(NvrtcProgram handle, char* ptx) {
  Result result = get_cubin(handle, ptx);
  if (result == 0) ptx[of(handle)->image.size()] = '\0';
  return result;
}

Result get_program_log_size(NvrtcProgram handle, size_t* bytes) {
  if (handle == nullptr) return kNvrtcInvalidProgram;
  *bytes = of(handle)->log.size() + 1;
  return 0;
}

Result get_program_log(NvrtcProgram handle, char* log) {
  if (handle == nullptr) return kNvrtcInvalidProgram;
  std::memcpy(log, of(handle)->log.c_str(), of(handle)->log.size() + 1);
  return 0;
}

Result destroy_program(NvrtcProgram* handle) {
  if (handle == nullptr || *handle == nullptr) return kNvrtcInvalidProgram;
  delete of(*handle);
  *handle = nullptr;
  return 0;
}

}  // namespace

void fill_nvrtc(NvrtcApi& api) {
  api.nvrtcVersion = version;
  api.nvrtcGetNumSupportedArchs = get_num_supported_archs;
  api.nvrtcGetSupportedArchs = get_supported_archs;
  api.nvrtcCreateProgram = create_program;
  api.nvrtcCompileProgram = compile_program;
  api.nvrtcGetCUBINSize = get_cubin_size;
  api.nvrtcGetCUBIN = get_cubin;
  api.nvrtcGetPTXSize = get_ptx_size;
  api.nvrtcGetPTX = get_ptx;
  api.nvrtcGetProgramLogSize = get_program_log_size;
  api.nvrtcGetProgramLog = get_program_log;
  api.nvrtcDestroyProgram = destroy_program;
}

}  // namespace fuselet::cuda::sim
