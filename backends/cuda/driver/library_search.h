// Finds and opens NVIDIA's libraries (nvrtc, cublasLt, …) where toolkits and PyPI wheels put them, whatever version
// their name ends in.
//
// Order: CUDA_HOME and CUDA_PATH; the folders that frontends name; wheels beside this library or in VIRTUAL_ENV;
// /usr/local/cuda and /usr/local/cuda-*; the loader's own path. Versions that the driver is too old for come last.
// An opened library stays open. The driver itself (libcuda) is load_driver.h's.
#pragma once
#include <string>
#include <vector>

namespace fuselet::cuda {

// A folder to search: of libraries, or a site-packages folder whose nvidia/*/lib hold wheels. Later ones come later.
void add_library_folder(const std::string& folder);

// Versions above this major one are tried last; 0: any. load_driver sets the driver's own. Returns what was set before.
int prefer_library_version(int major);

struct OpenedLibrary {
  void* handle = nullptr;  // of dlopen; null: not found
  std::string path;        // the file, or the name that the loader resolved
  std::string report;      // when not found: where it looked, and why what it saw did not open
};
// name: "nvrtc" for libnvrtc.so.*. Never throws; the result of a name is kept while it was found.
const OpenedLibrary& find_library(const std::string& name);
// The handle; Error with the report and what to install if there is none.
void* open_library(const std::string& name);

// The folder of the shared object that holds this code.
std::string folder_of_this_library();

}  // namespace fuselet::cuda
