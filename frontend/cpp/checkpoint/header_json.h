// The part of JSON (RFC 8259) that a safetensors header consists of: objects, arrays, strings and unsigned integers.
// Strict: anything else, a repeated key, a trailing comma, invalid UTF-8 or text after the value is an Error naming the
// byte.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fuselet {

struct JsonValue {
  using Array = std::vector<JsonValue>;
  // In the order of the text.
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  std::variant<uint64_t, std::string, Array, Object> value;

  // nullptr where the value is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

// White space may follow the value.
JsonValue parse_header_json(std::string_view text);
// The text in quotes, escaped; throws Error where it is no UTF-8.
std::string json_string(std::string_view text);

}  // namespace fuselet
