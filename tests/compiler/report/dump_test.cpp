// Stage texts reach the report, and the folder that the environment names.
#include "compiler/report/dump.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace fuselet;

namespace {

// Sets a variable of the environment for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a stage's text is made only where somebody reads it") {
  int calls = 0;
  auto text = [&] {
    ++calls;
    return std::string("graph {}\n");
  };
  report::leave_stage(nullptr, "g", "fuse", 1.5, text);
  CHECK(calls == 0);
  report::CompileReport r;
  report::leave_stage(&r, "g", "fuse", 1.5, text);
  CHECK(calls == 1);
  REQUIRE(r.stage("fuse"));
  CHECK(r.stage("fuse")->text == "graph {}\n");
  CHECK(r.stage("fuse")->milliseconds == 1.5);
  CHECK(r.stage("lower") == nullptr);
}

TEST_CASE("FUSELET_DUMP names stages, and FUSELET_DUMP_DIR says where they go") {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "fuselet_dump_test";
  std::filesystem::remove_all(folder);
  {
    Variable names("FUSELET_DUMP", "joint,fuse"), dir("FUSELET_DUMP_DIR", folder.string());
    CHECK(report::dump_wants("fuse"));
    CHECK_FALSE(report::dump_wants("fus"));
    CHECK_FALSE(report::dump_wants("lower"));
    report::leave_stage(nullptr, "my/net", "fuse", 0, [] { return std::string("the text\n"); });
    report::leave_stage(nullptr, "my/net", "lower", 0, [] { return std::string("another\n"); });
  }
  {
    Variable names("FUSELET_DUMP", "all");
    CHECK(report::dump_wants("lower"));
  }
  CHECK_FALSE(report::dump_wants("fuse"));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  CHECK(files[0].filename().string().find("_fuse_my_net.txt") != std::string::npos);
  std::stringstream held;
  held << std::ifstream(files[0]).rdbuf();
  CHECK(held.str() == "the text\n");
  std::filesystem::remove_all(folder);
}
