// Safetensors files: what is written is read, and whatever is damaged is refused.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/cpp/checkpoint/header_json.h"

using namespace fuselet;
namespace fs = std::filesystem;

namespace {

// A folder that is gone after the test.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / concat("fuselet_safetensors_", ::getpid());
  TemporaryFolder() { fs::create_directories(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
  std::string file(const char* name) const { return path / name; }
};

void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string container(const std::string& json, const std::string& data) {
  uint64_t length = json.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + json + data;
}

void refuse(const std::string& json, const std::string& data, const char* reason) {
  CAPTURE(json);
  CHECK_THROWS_WITH_AS(parse_safetensors(container(json, data), "file"), doctest::Contains(reason), Error);
}

}  // namespace

TEST_CASE("every dtype, shape and metadata text survives a round trip") {
  TemporaryFolder folder;
  nn::NamedTensors tensors;
  for (DType t : {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8, kBool}) {
    tensors.emplace_back(concat("t.", name_of(t)), tensor({{1, 0, 1}, {0, 1, 1}}, t));
  }
  tensors.emplace_back("scalar", tensor(-2.5));
  tensors.emplace_back("empty", zeros({0, 3}));
  tensors.emplace_back("transposed", tensor({{1, 2, 3}, {4, 5, 6}}).transpose(0, 1));
  std::map<std::string, std::string> metadata = {{"", "empty key"}, {"quote \"\\", "line\n\ttab\x01"}, {"ü€😀", "ünï"}};
  std::string path = folder.file("all.safetensors");
  save_safetensors(path, tensors, metadata);
  SafetensorsFile file = load_safetensors(path);
  CHECK(file.metadata == metadata);
  REQUIRE(file.tensors.size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK(file.tensors[i].first == tensors[i].first);
    CHECK(file.tensors[i].second.dtype() == tensors[i].second.dtype());
    CHECK(to_string(file.tensors[i].second.sizes()) == to_string(tensors[i].second.sizes()));
    CHECK(file.tensors[i].second.to_vector() == tensors[i].second.to_vector());
  }
  // No temporary file is left.
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("the layout is the format's") {
  SafetensorsFile file = parse_safetensors(
      container(R"({"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"k":"v"}}  )",
                std::string("\x01\0\0\0\xff\xff\xff\xff", 8)),
      "file");
  REQUIRE(file.tensors.size() == 1);
  CHECK(file.tensors[0].second.to_vector() == std::vector<double>{1, -1});
  CHECK(file.metadata.at("k") == "v");
  std::string header = safetensors_header({{"b", zeros({3}, kUInt8)}, {"d", zeros({1}, kFloat64)}}, {});
  // The wide elements come first, so each tensor is aligned.
  std::string json =
      R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  CHECK(header.substr(8, json.size()) == json);
  CHECK(header.find_first_not_of(' ', 8 + json.size()) == std::string::npos);
  CHECK(header.size() % 8 == 0);
}

TEST_CASE("a file truncated at any length is refused") {
  TemporaryFolder folder;
  std::string path = folder.file("whole");
  save_safetensors(path, {{"a", ones({3, 2})}, {"b", ones({4}, kInt64)}}, {{"key", "value"}});
  std::string bytes = data::read_file(path);
  CHECK(parse_safetensors(bytes, "whole").tensors.size() == 2);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(parse_safetensors(std::string_view(bytes).substr(0, length), "cut"), Error);
  }
  CHECK_THROWS_WITH_AS(parse_safetensors(bytes + "x", "long"), doctest::Contains("longer than its header says"), Error);
}

TEST_CASE("a flipped byte in the header is refused, or changes a name or text and nothing else") {
  nn::NamedTensors tensors = {{"a", ones({3, 2})}, {"b", ones({4}, kInt64)}};
  std::string header = safetensors_header(tensors, {{"key", "value"}});
  std::string bytes = header + std::string(32 + 24, '\1');
  int refused = 0, accepted = 0;
  for (size_t i = 0; i < header.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      try {
        SafetensorsFile file = parse_safetensors(flipped, "flipped");
        ++accepted;
        size_t elements = 0;
        for (const auto& [name, value] : file.tensors)
          elements += static_cast<size_t>(value.numel()) * size_of(value.dtype());
        CHECK(elements == 56);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > accepted);
}

TEST_CASE("each kind of damage has its message") {
  const std::string good = R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  refuse(R"({"a":)" + good + R"(,"a":)" + good + "}", "xx", "repeated key");
  refuse(R"({"a":)" + good + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "xxx", "overlaps");
  refuse(R"({"a":)" + good + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", "xxxxx", "leaves a hole");
  refuse(R"({"a":)" + good + "}", "x", "truncated");
  refuse(R"({"a":)" + good + "}", "xxx", "longer");
  refuse(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})", "xx", "does not fit its offsets");
  refuse(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", "xx", "does not fit its offsets");
  refuse(R"({"a":{"dtype":"U9","shape":[2],"data_offsets":[0,2]}})", "xx", "unknown dtype 'U9'");
  refuse(R"({"a":{"dtype":"U8","shape":[4611686018427387904],"data_offsets":[0,2]}})", "xx", "no number");
  refuse(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "",
         "does not fit its offsets");
  refuse(R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", "xx", "unsigned integer");
  refuse(R"({"a":{"dtype":"U8","shape":[2]}})", "xx", "is not {dtype, shape, data_offsets}");
  refuse(R"({"__metadata__":{"a":1}})", "", "is no string");
  refuse(R"({"__metadata__":[]})", "", "no object");
  refuse(R"(["a"])", "", "does not start with '{'");
  refuse(R"({"a":)" + good + "} x", "xx", "text after the end");
  refuse(R"({"a":)" + good + ",}", "xx", "expected a key");
  refuse("{\"\xff\":" + good + "}", "xx", "invalid UTF-8");
  refuse("{\"\xc0\x80\":" + good + "}", "xx", "invalid UTF-8");
  refuse(R"({"\ud800":)" + good + "}", "xx", "surrogate");
  refuse(R"({"\x":)" + good + "}", "xx", "unknown escape");
  std::string huge = container("{}", "");
  huge[7] = '\x7f';
  CHECK_THROWS_WITH_AS(parse_safetensors(huge, "file"), doctest::Contains("no safetensors file"), Error);
  CHECK_THROWS_WITH_AS(load_safetensors("/nowhere/file"), doctest::Contains("cannot open '/nowhere/file'"), Error);
}

TEST_CASE("escapes are read") {
  JsonValue value = parse_header_json(R"({"\u00fc\ud83d\ude00\n\/\"":[1, 0,18446744073709551615]})");
  const auto& [key, list] = value.as<JsonValue::Object>()->at(0);
  CHECK(key == "ü😀\n/\"");
  CHECK(*list.as<JsonValue::Array>()->at(2).as<uint64_t>() == UINT64_MAX);
  CHECK_THROWS_AS(parse_header_json("[18446744073709551616]"), Error);
  CHECK_THROWS_AS(parse_header_json("[01]"), Error);
  CHECK_THROWS_AS(parse_header_json("[1 2]"), Error);
  CHECK_THROWS_AS(parse_header_json(std::string(100000, '[')), Error);
}

TEST_CASE("writing fails cleanly") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(save_safetensors(folder.file("no/such/folder"), {{"a", ones({1})}}),
                       doctest::Contains("cannot write"), Error);
  std::string path = folder.file("kept");
  write(path, "old");
  CHECK_THROWS_AS(save_safetensors(path, {{"a", ones({1})}, {"a", ones({1})}}), Error);
  CHECK_THROWS_AS(save_safetensors(path, {{"__metadata__", ones({1})}}), Error);
  CHECK_THROWS_AS(save_safetensors(path, {{"a\xff", ones({1})}}), Error);
  CHECK(data::read_file(path) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}
