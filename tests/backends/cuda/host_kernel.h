// The text of a kernel as backends/cuda/text_kernel.h wants it, run thread by thread on the host: its compiler sees a
// few lines that stand for CUDA's words. No barriers, no shared memory.
#pragma once
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fuselet::testing {

class HostKernel {
 public:
  // args: the name of the struct that the kernel takes; it has a member `count`.
  explicit HostKernel(const std::string& source, const std::string& args = "WindowArgs") {
    char folder[] = "/tmp/fuselet-kernel-XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    const std::string file = std::string(folder) + "/kernel.cpp", object = std::string(folder) + "/kernel.so";
    std::ofstream(file) << R"text(
#define __global__
#define __device__
#define __forceinline__ inline
struct Place { unsigned x; };
static Place blockIdx, blockDim = {256}, threadIdx;
template <class T> static T min(T a, T b) { return a < b ? a : b; }
template <class T> static T max(T a, T b) { return a > b ? a : b; }
)text" << source << "extern \"C\" void run(const "
                        << args << R"text(* args) {
  for (blockIdx.x = 0; blockIdx.x * 256ll < args->count; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) kernel(*args);
  }
}
)text";
    REQUIRE(std::system(("c++ -std=c++17 -O1 -ffp-contract=off -shared -fPIC -o " + object + " " + file).c_str()) == 0);
    handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove_all(folder);
    REQUIRE(handle_ != nullptr);
    run_ = reinterpret_cast<void (*)(const void*)>(dlsym(handle_, "run"));
    const bool found = run_ != nullptr;
    REQUIRE(found);
  }
  ~HostKernel() { dlclose(handle_); }
  HostKernel(const HostKernel&) = delete;
  template <class Args>
  void operator()(const Args& args) const {
    run_(&args);
  }

 private:
  void* handle_ = nullptr;
  void (*run_)(const void*) = nullptr;
};

}  // namespace fuselet::testing
