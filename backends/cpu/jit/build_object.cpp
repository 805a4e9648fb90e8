#include "backends/cpu/jit/build_object.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "backends/cpu/codegen/emit_kernel.h"
#include "backends/jit/disk_cache.h"

namespace fuselet::cpu::jit {
namespace {

constexpr const char* kFolder = "cpu";

std::string flags_text() {
  std::string text;
  for (const std::string& flag : flags()) text += flag + " ";
  return text;
}

// Empty remark: it can be launched.
void load(const std::string& bytes, BuiltKernel& kernel) {
  std::string problem;
  std::shared_ptr<LoadedObject> object = load_object(bytes, problem);
  if (!object) {
    kernel.remark = "the compiled kernel does not load: " + problem;
    return;
  }
  kernel.function = reinterpret_cast<KernelFunction>(object->symbol(codegen::kEntry));
  if (kernel.function)
    kernel.object = std::move(object);
  else
    kernel.remark = "the compiled kernel has no entry";
}

bool load_from_disk(const CacheKey& key, BuiltKernel& kernel) {
  const std::optional<std::string> bytes = fuselet::jit::find_on_disk(key);
  if (!bytes) return false;
  load(*bytes, kernel);
  if (kernel.function) {
    kernel.origin = KernelOrigin::DiskCache;
  } else {
    kernel = {};
  }
  return kernel.function != nullptr;
}

// A folder of this compilation alone, removed with what is in it.
class WorkFolder {
 public:
  WorkFolder() : path_(fuselet::jit::make_work_folder(kFolder)) {}
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

BuiltKernel compile_one(const Toolchain& toolchain, const BuildOrder& order) {
  BuiltKernel kernel;
  if (toolchain.path.empty()) {
    kernel.remark = toolchain.problem;
    return kernel;
  }
  WorkFolder folder;
  const std::string source_path = folder.path() + "/kernel.cpp", object_path = folder.path() + "/kernel.so";
  std::ofstream source(source_path);
  source << *order.source;
  source.close();
  if (folder.path().empty() || !source) {
    kernel.remark = "temporary files can be written neither to the cache nor to TMPDIR";
    return kernel;
  }
  const Compilation compilation = compile(toolchain, source_path, object_path);
  kernel.milliseconds = compilation.milliseconds;
  std::ostringstream bytes;
  if (compilation.succeeded) {
    bytes << std::ifstream(object_path, std::ios::binary).rdbuf();
    load(bytes.str(), kernel);
  } else {
    kernel.remark = "the C++ compiler failed";
    const std::string kept = fuselet::jit::keep_failure(*order.key, ".cpp", *order.source,
                                                        "flags: " + flags_text() + "\n" + compilation.messages);
    if (!kept.empty()) kernel.remark += " on " + kept;
    kernel.remark += ": " + compilation.messages;
  }
  if (kernel.function) {
    const std::string problem = fuselet::jit::store_on_disk(*order.key, bytes.str());
    if (!problem.empty()) kernel.remark = "not cached on disk: " + problem;
  }
  return kernel;
}

}  // namespace

CacheKey key_of(const Toolchain& toolchain, const std::string& source) {
  const std::string settings = "interface " + std::to_string(kInterfaceVersion) + "\n" + toolchain.identity + "\n" +
                               flags_text() + "\n" + processor();
  return fuselet::jit::make_key(kFolder, settings, source);
}

std::vector<BuiltKernel> build_objects(const Toolchain& toolchain, const std::vector<BuildOrder>& orders) {
  std::vector<BuiltKernel> built(orders.size());
  std::vector<size_t> misses;
  for (size_t i = 0; i < orders.size(); ++i) {
    if (!load_from_disk(*orders[i].key, built[i])) misses.push_back(i);
  }
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t k; (k = next.fetch_add(1)) < misses.size();) {
      const size_t i = misses[k];
      built[i] = compile_one(toolchain, orders[i]);
    }
  };
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(processors, misses.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return built;
}

}  // namespace fuselet::cpu::jit
