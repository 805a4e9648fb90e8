// A folder of this process in TMPDIR for sources and objects, removed when the process ends.
#pragma once
#include <string>

namespace fuselet::cuda::sim {

// Empty if none can be made.
const std::string& work_folder();
// False if it could not be written.
bool write_file(const std::string& path, const void* data, size_t bytes);
bool read_file(const std::string& path, std::string& text);

// FNV-1a.
unsigned long long hash_text(const void* data, size_t bytes, unsigned long long start = 0xcbf29ce484222325ull);

}  // namespace fuselet::cuda::sim
