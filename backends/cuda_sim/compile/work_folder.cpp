#include "backends/cuda_sim/compile/work_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fuselet::cuda::sim {

namespace {

struct Folder {
  std::string path;
  pid_t owner = getpid();
  Folder() {
    const char* parent = std::getenv("TMPDIR");
    std::string name = std::string(parent && *parent ? parent : "/tmp") + "/fuselet_sim.XXXXXX";
    if (mkdtemp(name.data())) path = name;
  }
  ~Folder() {
    std::error_code ignored;
    // A child of fork leaves it to its parent.
    if (!path.empty() && getpid() == owner) std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

const std::string& work_folder() {
  static Folder folder;
  return folder.path;
}

bool write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return out.flush().good();
}

bool read_file(const std::string& path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  text = all.str();
  return in.good() && !text.empty();
}

unsigned long long hash_text(const void* data, size_t bytes, unsigned long long start) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) start = (start ^ p[i]) * 0x100000001b3ull;
  return start;
}

}  // namespace fuselet::cuda::sim
