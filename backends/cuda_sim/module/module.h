// A loaded shared object of kernels, and its functions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

class Module;

struct Function {
  std::string name;
  void (*run)(void* const* parameters) = nullptr;
  std::vector<unsigned> sizes, alignments;  // of the parameters
  int max_threads = 1024;
  unsigned static_shared = 0;
  unsigned max_dynamic_shared = 48 * 1024;
  Module* module = nullptr;
};

class Module {
 public:
  // Null, with the reason in `problem`, where the object cannot be loaded.
  static std::unique_ptr<Module> load(const std::string& object, std::string& problem);
  ~Module();

  Function* function(const std::string& name);
  const std::string& path() const { return path_; }
  uintptr_t begin() const { return begin_; }
  size_t bytes() const { return bytes_; }
  // The calling thread's own copy.
  uintptr_t shared_begin() const;
  size_t shared_bytes() const { return shared_bytes_; }
  // Of its extern arrays; null past the last.
  uintptr_t dynamic_array(int i) const;

 private:
  Module() = default;
  bool find_extent();

  std::string path_;
  void* handle_ = nullptr;
  uintptr_t begin_ = 0;
  size_t bytes_ = 0;
  size_t thread_local_number_ = 0, shared_bytes_ = 0;
  char* (*dynamic_array_)(int) = nullptr;
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace fuselet::cuda::sim
