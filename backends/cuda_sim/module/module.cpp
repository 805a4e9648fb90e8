#include "backends/cuda_sim/module/module.h"

#include <dlfcn.h>
#include <link.h>

#include "backends/cuda_sim/compile/work_folder.h"
#include "backends/cuda_sim/module/shared_variables.h"
#include "backends/cuda_sim/report/report.h"

// The loader's own: the calling thread's storage of a module.
extern "C" void* __tls_get_addr(size_t module_and_offset[2]);

namespace fuselet::cuda::sim {

namespace {

// As shim/kernel_table.h declares it.
struct KernelEntry {
  const char* name;
  void (*run)(void* const* parameters);
  int num_parameters;
  const unsigned* sizes;
  const unsigned* alignments;
  int max_threads;
};

}  // namespace

std::unique_ptr<Module> Module::load(const std::string& object, std::string& problem) {
  std::unique_ptr<Module> module(new Module);
  // The loader knows objects by their path: another content needs another name.
  module->path_ = work_folder() + format("/%016llx.so", hash_text(object.data(), object.size()));
  if (!write_file(module->path_ + ".new", object.data(), object.size()) ||
      std::rename((module->path_ + ".new").c_str(), module->path_.c_str()) != 0) {
    problem = "cannot write " + module->path_;
    return nullptr;
  }
  module->handle_ = dlopen(module->path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module->handle_ == nullptr) {
    problem = dlerror();
    return nullptr;
  }
  auto symbol = [&](const char* name) { return dlsym(module->handle_, name); };
  const auto* entry = static_cast<const KernelEntry*>(symbol("sim_kernels"));
  module->dynamic_array_ = reinterpret_cast<char* (*)(int)>(symbol("sim_dynamic_array"));
  if (entry == nullptr || module->dynamic_array_ == nullptr || !module->find_extent()) {
    problem = "no object of kernels: " + module->path_;
    return nullptr;
  }
  for (; entry->name != nullptr; ++entry) {
    // A kernel with C++ linkage goes by its mangled name, which NVRTC's caller would have to know.
    if (symbol(entry->name) == nullptr) continue;
    auto function = std::make_unique<Function>();
    function->name = entry->name;
    function->run = entry->run;
    function->sizes.assign(entry->sizes, entry->sizes + entry->num_parameters);
    function->alignments.assign(entry->alignments, entry->alignments + entry->num_parameters);
    if (entry->max_threads > 0) function->max_threads = entry->max_threads;
    function->static_shared = static_shared_bytes(object, entry->name);
    function->module = module.get();
    module->functions_.push_back(std::move(function));
  }
  return module;
}

Module::~Module() {
  if (handle_ != nullptr) dlclose(handle_);
}

bool Module::find_extent() {
  auto visit = [](dl_phdr_info* info, size_t, void* data) {
    auto* self = static_cast<Module*>(data);
    if (self->path_ != info->dlpi_name) return 0;
    self->begin_ = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      if (header.p_type == PT_LOAD) self->bytes_ = std::max(self->bytes_, header.p_vaddr + header.p_memsz);
      if (header.p_type == PT_TLS) {
        self->shared_bytes_ = header.p_memsz;
        self->thread_local_number_ = info->dlpi_tls_modid;
      }
    }
    return 1;
  };
  return dl_iterate_phdr(visit, this) == 1;
}

Function* Module::function(const std::string& name) {
  for (auto& function : functions_)
    if (function->name == name) return function.get();
  return nullptr;
}

uintptr_t Module::shared_begin() const {
  if (shared_bytes_ == 0) return 0;
  size_t index[2] = {thread_local_number_, 0};
  return reinterpret_cast<uintptr_t>(__tls_get_addr(index));
}

uintptr_t Module::dynamic_array(int i) const { return reinterpret_cast<uintptr_t>(dynamic_array_(i)); }

}  // namespace fuselet::cuda::sim
