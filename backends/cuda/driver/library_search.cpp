#include "backends/cuda/driver/library_search.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"

namespace fuselet::cuda {
namespace {

namespace fs = std::filesystem;

struct Search {
  std::mutex mutex;
  std::vector<std::string> folders;
  int newest_major = 0;
  std::map<std::string, std::unique_ptr<OpenedLibrary>> found;
};

Search& search() {
  static Search* s = new Search();
  return *s;
}

struct Candidate {
  std::string path;
  int major;  // of the name's ending; 0: none
};

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The files "lib<name>.so" and "lib<name>.so.<version>" of a folder, the newest version first.
void add_candidates(const fs::path& folder, const std::string& name, std::vector<Candidate>& out) {
  const std::string stem = "lib" + name + ".so";
  std::vector<Candidate> here;
  for (const fs::path& file : entries_of(folder)) {
    const std::string entry = file.filename().string();
    if (entry == stem) here.push_back({file.string(), 0});
    if (entry.size() > stem.size() + 1 && entry.compare(0, stem.size() + 1, stem + ".") == 0) {
      int major = std::atoi(entry.c_str() + stem.size() + 1);
      if (major > 0) here.push_back({file.string(), major});
    }
  }
  std::stable_sort(here.begin(), here.end(), [](const Candidate& a, const Candidate& b) { return a.major > b.major; });
  out.insert(out.end(), here.begin(), here.end());
}

void add_toolkit(const fs::path& root, std::vector<fs::path>& folders) {
  for (const char* sub : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
    folders.push_back(root / sub);
  }
}

void add_wheels(const fs::path& site_packages, std::vector<fs::path>& folders) {
  for (const fs::path& package : entries_of(site_packages / "nvidia")) folders.push_back(package / "lib");
}

std::vector<fs::path> folders_to_search(const std::vector<std::string>& named) {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root && *root) add_toolkit(root, folders);
  }
  for (const std::string& folder : named) {
    folders.push_back(folder);
    add_wheels(folder, folders);
  }
  add_wheels(fs::path(folder_of_this_library()).parent_path(), folders);
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv && *venv) {
    for (const fs::path& python : entries_of(fs::path(venv) / "lib")) add_wheels(python / "site-packages", folders);
  }
  add_toolkit("/usr/local/cuda", folders);
  std::vector<fs::path> local = entries_of("/usr/local");
  for (auto it = local.rbegin(); it != local.rend(); ++it) {
    if (it->filename().string().starts_with("cuda-")) add_toolkit(*it, folders);
  }
  return folders;
}

OpenedLibrary look_for(const std::string& name, const std::vector<std::string>& named, int newest_major) {
  std::vector<Candidate> candidates;
  std::string looked;
  for (const fs::path& folder : folders_to_search(named)) {
    add_candidates(folder, name, candidates);
    std::error_code failed;
    if (fs::is_directory(folder, failed)) looked += "\n  " + folder.string();
  }
  // Names for the loader's own path: every major version that CUDA 11 and later use, the newest first.
  for (int major = 19; major >= 11; --major) {
    candidates.push_back({"lib" + name + ".so." + std::to_string(major), major});
  }
  candidates.push_back({"lib" + name + ".so", 0});
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const Candidate& c) { return newest_major == 0 || c.major <= newest_major; });
  OpenedLibrary library;
  std::string refused;
  for (const Candidate& c : candidates) {
    library.handle = dlopen(c.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
      library.path = c.path;
      return library;
    }
    if (c.path.find('/') != std::string::npos) refused += std::string("\n  ") + dlerror();
  }
  library.report = "looked in:" + (looked.empty() ? "\n  (no such folder exists)" : looked) +
                   "\n  and in the loader's own path (LD_LIBRARY_PATH, ld.so.cache)";
  if (!refused.empty()) library.report += "\nfound, but not loadable:" + refused;
  return library;
}

const char* how_to_install(const std::string& name) {
  if (name == "nvrtc") return "pip install nvidia-cuda-nvrtc";
  if (name == "cublasLt") return "pip install nvidia-cublas";
  if (name == "cupti") return "pip install nvidia-cuda-cupti";
  return "install the CUDA toolkit";
}

}  // namespace

void add_library_folder(const std::string& folder) {
  std::lock_guard lock(search().mutex);
  search().folders.push_back(folder);
}

int prefer_library_version(int major) {
  std::lock_guard lock(search().mutex);
  return std::exchange(search().newest_major, major);
}

const OpenedLibrary& find_library(const std::string& name) {
  Search& s = search();
  std::lock_guard lock(s.mutex);
  std::unique_ptr<OpenedLibrary>& slot = s.found[name];
  if (!slot) slot = std::make_unique<OpenedLibrary>();
  if (!slot->handle) *slot = look_for(name, s.folders, s.newest_major);
  return *slot;
}

void* open_library(const std::string& name) {
  const OpenedLibrary& library = find_library(name);
  FUSELET_CHECK(library.handle, "CUDA: lib", name, " was not found; ", library.report, "\ninstall it (",
                how_to_install(name), "), or set CUDA_HOME to a CUDA toolkit");
  return library.handle;
}

std::string folder_of_this_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &info) || !info.dli_fname) return ".";
  std::error_code failed;
  fs::path file = fs::canonical(info.dli_fname, failed);
  return failed ? fs::path(info.dli_fname).parent_path().string() : file.parent_path().string();
}

}  // namespace fuselet::cuda
