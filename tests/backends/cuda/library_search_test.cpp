// Where NVIDIA's libraries are found: by folder, by wheel, by version; and what is said when there is none.
#include "backends/cuda/driver/library_search.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "core/error.h"

using namespace fuselet::cuda;
namespace fs = std::filesystem;

namespace {

// A folder like site-packages, with small real libraries under made-up names.
class Wheels {
 public:
  Wheels() {
    std::string pattern = (fs::temp_directory_path() / "fuselet_wheels_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    root_ = pattern;
    add_library_folder(root_.string());
  }
  ~Wheels() { fs::remove_all(root_); }
  // file: "libname.so.12", in the wheel's folder.
  std::string add(const std::string& wheel, const std::string& file) {
    Dl_info info;
    REQUIRE(dladdr(reinterpret_cast<const void*>(static_cast<double (*)(double)>(std::cbrt)), &info));
    const fs::path folder = root_ / "nvidia" / wheel / "lib";
    fs::create_directories(folder);
    fs::copy_file(info.dli_fname, folder / file);
    return (folder / file).string();
  }
  std::string add_damaged(const std::string& wheel, const std::string& file) {
    const std::string path = add(wheel, file);
    fs::resize_file(path, 100);
    return path;
  }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("library search: the newest version of a wheel is taken") {
  Wheels wheels;
  wheels.add("probe_a", "libfuselet_probe_a.so.12");
  const std::string newest = wheels.add("probe_a", "libfuselet_probe_a.so.13");
  wheels.add("probe_a", "libfuselet_probe_a-builtins.so.14");
  wheels.add("probe_a", "libfuselet_probe_a.alt.so.15");
  CHECK(find_library("fuselet_probe_a").path == newest);
  CHECK(open_library("fuselet_probe_a") == find_library("fuselet_probe_a").handle);
}

TEST_CASE("library search: a version that the driver is too old for comes last") {
  Wheels wheels;
  const std::string older = wheels.add("cu12", "libfuselet_probe_b.so.12");
  wheels.add("cu13", "libfuselet_probe_b.so.13");
  const std::string only = wheels.add("cu13", "libfuselet_probe_c.so.13");
  const int before = prefer_library_version(12);
  CHECK(find_library("fuselet_probe_b").path == older);
  CHECK(find_library("fuselet_probe_c").path == only);
  prefer_library_version(before);
}

TEST_CASE("library search: a damaged file is passed over, and named if there is no other") {
  Wheels wheels;
  const std::string damaged = wheels.add_damaged("probe_d", "libfuselet_probe_d.so.13");
  CHECK(find_library("fuselet_probe_d").handle == nullptr);
  CHECK(find_library("fuselet_probe_d").report.find("found, but not loadable:\n  " + damaged) != std::string::npos);
  const std::string whole = wheels.add("probe_e", "libfuselet_probe_d.so.12");
  CHECK(find_library("fuselet_probe_d").path == whole);
}

TEST_CASE("library search: what is missing is said with where it was looked for") {
  try {
    open_library("fuselet_no_such");
    FAIL("no error");
  } catch (const fuselet::Error& e) {
    const std::string text = e.what();
    CHECK(text.find("CUDA: libfuselet_no_such was not found; looked in:") == 0);
    CHECK(text.find("LD_LIBRARY_PATH") != std::string::npos);
    CHECK(text.find("set CUDA_HOME to a CUDA toolkit") != std::string::npos);
  }
}
