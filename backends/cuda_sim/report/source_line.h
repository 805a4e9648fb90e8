// From an address in a loaded kernel to its source line.
#pragma once
#include <string>

namespace fuselet::cuda::sim {

// "softmax.cu:19", by addr2line on the object file; the object's name and offset where that program is missing.
// Lines of the shim give way to the line that they are inlined into.
std::string source_line(const std::string& object_path, size_t offset);

// The output of a program, run without a shell; empty if it cannot be run.
std::string output_of(const std::string& program, const std::initializer_list<std::string>& arguments);

}  // namespace fuselet::cuda::sim
