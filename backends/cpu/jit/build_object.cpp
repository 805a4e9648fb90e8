#include "backends/cpu/jit/build_object.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "backends/cpu/codegen/emit_kernel.h"

namespace fuselet::cpu::jit {
namespace {

// Loads the object and finds its entry; leaves a remark where that fails.
void load(const std::string& path, BuiltKernel& kernel) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    kernel.remark = std::string("the compiled kernel does not load: ") + dlerror();
    return;
  }
  auto object = std::make_shared<LoadedObject>(handle);
  kernel.function = reinterpret_cast<KernelFunction>(object->symbol(codegen::kEntry));
  if (kernel.function)
    kernel.object = std::move(object);
  else
    kernel.remark = "the compiled kernel has no entry";
}

// A folder of this compilation alone, removed with what is in it.
class WorkFolder {
 public:
  WorkFolder() {
    const char* tmp = std::getenv("TMPDIR");
    std::string pattern = std::string(tmp && *tmp ? tmp : "/tmp") + "/fuselet-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~WorkFolder() {
    if (path_.empty()) return;
    for (const char* file : {"/kernel.cpp", "/kernel.so", "/kernel.so.log"}) unlink((path_ + file).c_str());
    rmdir(path_.c_str());
  }
  WorkFolder(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

BuiltKernel build_one(const Toolchain& toolchain, const CacheKey&, const std::string& source) {
  BuiltKernel kernel;
  if (toolchain.path.empty()) {
    kernel.remark = toolchain.problem;
    return kernel;
  }
  WorkFolder folder;
  if (folder.path().empty()) {
    kernel.remark = "no folder for temporary files can be made in TMPDIR";
    return kernel;
  }
  const std::string source_path = folder.path() + "/kernel.cpp", object_path = folder.path() + "/kernel.so";
  std::ofstream(source_path) << source;
  const Compilation compilation = compile(toolchain, source_path, object_path);
  kernel.milliseconds = compilation.milliseconds;
  if (!compilation.succeeded) {
    kernel.remark = "the C++ compiler failed: " + compilation.messages;
    return kernel;
  }
  load(object_path, kernel);
  return kernel;
}

}  // namespace

std::vector<BuiltKernel> build_objects(const Toolchain& toolchain, const std::vector<const CacheKey*>& keys,
                                       const std::vector<const std::string*>& sources) {
  std::vector<BuiltKernel> built(keys.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < keys.size();) built[i] = build_one(toolchain, *keys[i], *sources[i]);
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(cores, keys.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return built;
}

}  // namespace fuselet::cpu::jit
