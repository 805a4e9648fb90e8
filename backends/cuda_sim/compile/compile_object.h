// A CUDA source to a shared object, by the system's g++.
//
// Checked kernels are compiled as for the thread sanitizer and parts of the undefined-behaviour sanitizer, but linked
// without either: each load, store and basic block then calls the simulator (execute/hooks.cpp). --wrap gives those
// calls names of our own, so that a sanitizer in the same process does not answer them.
#pragma once
#include <string>
#include <vector>

namespace fuselet::cuda::sim {

struct CompiledObject {
  bool succeeded = false;
  std::string object;
  std::string log;
};

// `definitions` are -D and -U options. Any thread; takes no lock.
CompiledObject compile_object(const std::string& source, const std::string& name,
                              const std::vector<std::string>& definitions);

const std::vector<std::string>& compile_flags();

}  // namespace fuselet::cuda::sim
