#include "backends/cpu/jit/loaded_object.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fuselet::cpu::jit {
namespace {

bool write_all(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// dlopen takes an object of the same path for the same object, and a file's number returns after its close; so each
// load spells the path in its own way: "/" or "/." for each bit of a count.
std::string path_of_memory(int file) {
  static std::atomic<unsigned> count{0};
  const unsigned number = count.fetch_add(1);
  std::string path = "/proc/self/fd";
  for (int bit = 0; bit < 24; ++bit) path += number >> bit & 1 ? "/." : "/";
  return path + "/" + std::to_string(file);
}

}  // namespace

LoadedObject::~LoadedObject() { dlclose(handle_); }
void* LoadedObject::symbol(const char* name) const { return dlsym(handle_, name); }

std::shared_ptr<LoadedObject> load_object(const std::string& bytes, std::string& problem) {
  std::string path, temporary;
  int file = memfd_create("fuselet kernel", MFD_CLOEXEC);
  if (file >= 0) {
    path = path_of_memory(file);
  } else {  // a kernel or a sandbox without it
    const char* tmp = std::getenv("TMPDIR");
    temporary = std::string(tmp && *tmp ? tmp : "/tmp") + "/fuselet-XXXXXX";
    file = mkstemp(temporary.data());
    path = temporary;
  }
  void* handle = nullptr;
  if (file < 0 || !write_all(file, bytes)) {
    problem = std::strerror(errno);
  } else {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) problem = dlerror();
  }
  if (file >= 0) close(file);
  if (file >= 0 && !temporary.empty()) unlink(temporary.c_str());
  return handle ? std::make_shared<LoadedObject>(handle) : nullptr;
}

}  // namespace fuselet::cpu::jit
