#include "frontend/cpp/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

#include "core/ops/functions.h"
#include "frontend/cpp/checkpoint/atomic_file.h"
#include "frontend/cpp/checkpoint/header_json.h"
#include "frontend/cpp/data/text.h"
#include "frontend/cpp/values/from_values.h"

namespace fuselet {
namespace {

static_assert(std::endian::native == std::endian::little, "the format stores little-endian elements");

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
constexpr size_t kLengthBytes = 8;
// The limit of the format's own reader, against absurd allocations.
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr const char* kMetadataKey = "__metadata__";

// By DType.
constexpr const char* kNames[kNumDTypes] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I8", "U8", "BOOL"};

const char* format_name(DType t) { return kNames[static_cast<int>(t)]; }

std::optional<DType> parse_format_name(const std::string& name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (name == kNames[i]) return static_cast<DType>(i);
  }
  return std::nullopt;
}

// Wide elements first, so that every tensor starts at a multiple of its element size.
std::vector<size_t> layout_order(const NamedTensors& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return size_of(tensors[a].second.dtype()) > size_of(tensors[b].second.dtype());
  });
  return order;
}

size_t bytes_of(const Tensor& t) { return static_cast<size_t>(t.numel()) * size_of(t.dtype()); }

struct Entry {
  std::string name;
  DType dtype;
  std::vector<int64_t> sizes;
  uint64_t begin, end;
};

const JsonValue* member(const JsonValue::Object& object, std::string_view key) {
  for (const auto& [name, value] : object) {
    if (name == key) return &value;
  }
  return nullptr;
}

template <class T>
const T* member_as(const JsonValue::Object& object, std::string_view key) {
  const JsonValue* value = member(object, key);
  return value ? value->as<T>() : nullptr;
}

Entry parse_entry(const std::string& name, const JsonValue& value, const std::string& origin) {
  const auto* object = value.as<JsonValue::Object>();
  const auto* dtype_name = object ? member_as<std::string>(*object, "dtype") : nullptr;
  const auto* shape = object ? member_as<JsonValue::Array>(*object, "shape") : nullptr;
  const auto* offsets = object ? member_as<JsonValue::Array>(*object, "data_offsets") : nullptr;
  bool complete = dtype_name && shape && offsets && offsets->size() == 2 && object->size() == 3 &&
                  (*offsets)[0].as<uint64_t>() && (*offsets)[1].as<uint64_t>();
  FUSELET_CHECK(complete, "'", origin, "': the entry of '", name, "' is not {dtype, shape, data_offsets}");
  std::optional<DType> dtype = parse_format_name(*dtype_name);
  FUSELET_CHECK(dtype, "'", origin, "': '", name, "' has the unknown dtype '", *dtype_name, "'");
  Entry entry{name, *dtype, {}, *(*offsets)[0].as<uint64_t>(), *(*offsets)[1].as<uint64_t>()};
  uint64_t bytes = size_of(*dtype);
  bool fits = true, empty = false;
  for (const JsonValue& size : *shape) {
    const uint64_t* n = size.as<uint64_t>();
    FUSELET_CHECK(n && *n < (uint64_t{1} << 62), "'", origin, "': '", name, "' has a size that is no number");
    entry.sizes.push_back(static_cast<int64_t>(*n));
    empty |= *n == 0;
    fits &= !__builtin_mul_overflow(bytes, *n == 0 ? 1 : *n, &bytes);
  }
  if (empty) bytes = 0;
  FUSELET_CHECK(fits && entry.begin <= entry.end && entry.end - entry.begin == bytes, "'", origin, "': '", name,
                "' of shape ", to_string(IntList(entry.sizes).view()), " and dtype ", *dtype_name,
                " does not fit its offsets ", entry.begin, " to ", entry.end);
  return entry;
}

}  // namespace

std::string safetensors_header(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  std::set<std::string> names;
  std::vector<size_t> begins(tensors.size());
  for (const auto& [name, value] : tensors) {
    FUSELET_CHECK(value.defined(), "save_safetensors: '", name, "' is undefined");
    FUSELET_CHECK(name != kMetadataKey && names.insert(name).second, "save_safetensors: the name '", name, "' is ",
                  name == kMetadataKey ? "reserved" : "given twice");
  }
  size_t offset = 0;
  for (size_t i : layout_order(tensors)) {
    begins[i] = offset;
    offset += bytes_of(tensors[i].second);
  }
  std::string json = "{";
  auto separate = [&] { json += json.size() > 1 ? "," : ""; };
  if (!metadata.empty()) {
    json += concat(json_string(kMetadataKey), ":{");
    const char* comma = "";
    for (const auto& [key, value] : metadata) {
      json += comma + json_string(key) + ":" + json_string(value);
      comma = ",";
    }
    json += "}";
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, value] = tensors[i];
    separate();
    json += concat(json_string(name), ":{\"dtype\":\"", format_name(value.dtype()), "\",\"shape\":[");
    for (size_t d = 0; d < value.sizes().size(); ++d) json += concat(d ? "," : "", value.sizes()[d].concrete());
    json += concat("],\"data_offsets\":[", begins[i], ",", begins[i] + bytes_of(value), "]}");
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  uint64_t length = json.size();
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, kLengthBytes);
  return header + json;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  NoGradGuard no_grad;
  std::string header = safetensors_header(tensors, metadata);
  std::vector<Tensor> dense;
  std::vector<std::string_view> pieces = {header};
  for (size_t i : layout_order(tensors)) {
    const Tensor& value = tensors[i].second;
    dense.push_back(value.cpu().contiguous());
    if (bytes_of(value)) pieces.emplace_back(static_cast<const char*>(dense.back().raw_data()), bytes_of(value));
  }
  write_file_atomically(path, pieces);
}

SafetensorsFile parse_safetensors(std::string_view bytes, const std::string& origin) {
  FUSELET_CHECK(bytes.size() >= kLengthBytes, "'", origin, "' is truncated: ", bytes.size(), " bytes hold no header");
  uint64_t header_length = 0;
  std::memcpy(&header_length, bytes.data(), kLengthBytes);
  FUSELET_CHECK(header_length <= kLongestHeader, "'", origin, "' is no safetensors file: a header of ", header_length,
                " bytes");
  FUSELET_CHECK(header_length <= bytes.size() - kLengthBytes, "'", origin, "' is truncated: the header has ",
                header_length, " bytes, the file ", bytes.size());
  std::string_view text = bytes.substr(kLengthBytes, header_length), data = bytes.substr(kLengthBytes + header_length);
  FUSELET_CHECK(text.starts_with('{'), "'", origin, "' is no safetensors file: its header does not start with '{'");
  JsonValue header;
  try {
    header = parse_header_json(text);
  } catch (const Error& error) {
    fail("'", origin, "' is damaged: ", error.what());
  }
  SafetensorsFile file;
  std::vector<Entry> entries;
  for (const auto& [name, value] : *header.as<JsonValue::Object>()) {
    if (name != kMetadataKey) {
      entries.push_back(parse_entry(name, value, origin));
      continue;
    }
    const auto* object = value.as<JsonValue::Object>();
    FUSELET_CHECK(object, "'", origin, "': the metadata are no object");
    for (const auto& [key, entry] : *object) {
      FUSELET_CHECK(entry.as<std::string>(), "'", origin, "': the metadata entry '", key, "' is no string");
      file.metadata[key] = *entry.as<std::string>();
    }
  }
  std::vector<const Entry*> by_offset;
  for (const Entry& entry : entries) by_offset.push_back(&entry);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const Entry* a, const Entry* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  uint64_t reached = 0;
  for (const Entry* entry : by_offset) {
    FUSELET_CHECK(entry->begin == reached, "'", origin, "': '", entry->name, "' starts at byte ", entry->begin,
                  ", which ", entry->begin < reached ? "overlaps the tensor before it" : "leaves a hole behind", " at ",
                  reached);
    reached = entry->end;
  }
  FUSELET_CHECK(reached == data.size(), "'", origin, "' is ",
                reached > data.size() ? "truncated" : "longer than its header says", ": ", data.size(),
                " bytes of elements, expected ", reached);
  for (const Entry& entry : entries)
    file.tensors.emplace_back(entry.name, copy_bytes(data.data() + entry.begin, entry.sizes, entry.dtype));
  return file;
}

SafetensorsFile load_safetensors(const std::string& path) { return parse_safetensors(data::read_file(path), path); }

}  // namespace fuselet
