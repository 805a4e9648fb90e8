#include "frontend/cpp/checkpoint/state.h"

#include <charconv>

namespace fuselet {
namespace {

template <class T, class... Format>
T parse(const State& state, const std::string& name, const char* what, Format... format) {
  const std::string& text = state.get_text(name);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  FUSELET_CHECK(error == std::errc() && end == text.data() + text.size(), "state: '", name, "' should be ", what,
                ", got '", text, "'");
  return value;
}

}  // namespace

void State::set_int(const std::string& name, int64_t value) { values[name] = std::to_string(value); }
void State::set_uint(const std::string& name, uint64_t value) { values[name] = std::to_string(value); }

void State::set_double(const std::string& name, double value) {
  char text[64];
  values[name] = std::string(text, std::to_chars(text, text + sizeof(text), value, std::chars_format::hex).ptr);
}

const std::string& State::get_text(const std::string& name) const {
  auto at = values.find(name);
  FUSELET_CHECK(at != values.end(), "state: '", name, "' is missing");
  return at->second;
}

int64_t State::get_int(const std::string& name) const { return parse<int64_t>(*this, name, "an integer"); }
uint64_t State::get_uint(const std::string& name) const { return parse<uint64_t>(*this, name, "a count"); }
double State::get_double(const std::string& name) const {
  return parse<double>(*this, name, "a hexadecimal floating-point number", std::chars_format::hex);
}

const Tensor* State::find_tensor(const std::string& name) const {
  for (const auto& [own, value] : tensors) {
    if (own == name) return &value;
  }
  return nullptr;
}

void State::insert(const std::string& prefix, const State& part) {
  for (const auto& [name, value] : part.tensors) tensors.emplace_back(prefix + "." + name, value);
  for (const auto& [name, value] : part.values) values[prefix + "." + name] = value;
}

State State::extract(const std::string& prefix) const {
  State part;
  std::string start = prefix + ".";
  for (const auto& [name, value] : tensors) {
    if (name.starts_with(start)) part.tensors.emplace_back(name.substr(start.size()), value);
  }
  for (const auto& [name, value] : values) {
    if (name.starts_with(start)) part.values[name.substr(start.size())] = value;
  }
  return part;
}

}  // namespace fuselet
