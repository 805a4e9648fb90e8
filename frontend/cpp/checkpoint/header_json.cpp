#include "frontend/cpp/checkpoint/header_json.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace fuselet {
namespace {

// Bytes of the UTF-8 sequence at the front of `text`; 0 if it is none (overlong forms and surrogates included).
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  auto follows = [&](size_t i) { return (byte(i) >> 6) == 2; };
  uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    bool overlong = lead == 0xe0 && byte(1) < 0xa0, surrogate = lead == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    bool overlong = lead == 0xf0 && byte(1) < 0x90, beyond = lead == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue parse_all() {
    JsonValue value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) refuse("text after the end of the value");
    return value;
  }

 private:
  [[noreturn]] void refuse(const char* what) const { fail("header JSON: ", what, " at byte ", at_); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!accept(c)) refuse(what);
  }

  JsonValue parse_value(int depth) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest) refuse("nesting too deep");
    skip_space();
    switch (peek()) {
      case '{':
        return {parse_object(depth)};
      case '[':
        return {parse_array(depth)};
      case '"':
        return {parse_string()};
      default:
        return {parse_unsigned()};
    }
  }

  JsonValue::Object parse_object(int depth) {
    JsonValue::Object object;
    std::set<std::string> keys;
    expect('{', "expected '{'");
    if (accept('}')) return object;
    do {
      skip_space();
      if (peek() != '"') refuse("expected a key");
      std::string key = parse_string();
      if (!keys.insert(key).second) refuse("repeated key");
      expect(':', "expected ':'");
      object.emplace_back(std::move(key), parse_value(depth + 1));
    } while (accept(','));
    expect('}', "expected ',' or '}'");
    return object;
  }

  JsonValue::Array parse_array(int depth) {
    JsonValue::Array array;
    expect('[', "expected '['");
    if (accept(']')) return array;
    do array.push_back(parse_value(depth + 1));
    while (accept(','));
    expect(']', "expected ',' or ']'");
    return array;
  }

  uint64_t parse_unsigned() {
    size_t first = at_;
    uint64_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      uint64_t digit = static_cast<uint64_t>(peek() - '0');
      if (value > (UINT64_MAX - digit) / 10) refuse("number too large");
      value = value * 10 + digit;
      ++at_;
    }
    if (at_ == first) refuse("expected an object, array, string or unsigned integer");
    if (text_[first] == '0' && at_ - first > 1) refuse("number with a leading zero");
    return value;
  }

  uint32_t parse_hex4() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      char c = peek();
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0) refuse("expected four hexadecimal digits");
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    return value;
  }

  void parse_escape(std::string& out) {
    char c = peek();
    ++at_;
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (size_t plain = kFrom.find(c); c != '\0' && plain != std::string_view::npos) {
      out += kTo[plain];
      return;
    }
    if (c != 'u') refuse("unknown escape");
    uint32_t point = parse_hex4();
    if (point >= 0xd800 && point < 0xdc00) {
      if (text_.substr(at_, 2) != "\\u") refuse("half of a surrogate pair");
      at_ += 2;
      uint32_t low = parse_hex4();
      if (low < 0xdc00 || low > 0xdfff) refuse("half of a surrogate pair");
      point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
    } else if (point >= 0xdc00 && point <= 0xdfff) {
      refuse("half of a surrogate pair");
    }
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += {static_cast<char>(0xc0 | point >> 6), static_cast<char>(0x80 | (point & 0x3f))};
    } else if (point < 0x10000) {
      out += {static_cast<char>(0xe0 | point >> 12), static_cast<char>(0x80 | (point >> 6 & 0x3f)),
              static_cast<char>(0x80 | (point & 0x3f))};
    } else {
      out += {static_cast<char>(0xf0 | point >> 18), static_cast<char>(0x80 | (point >> 12 & 0x3f)),
              static_cast<char>(0x80 | (point >> 6 & 0x3f)), static_cast<char>(0x80 | (point & 0x3f))};
    }
  }

  std::string parse_string() {
    std::string out;
    ++at_;
    while (true) {
      if (at_ >= text_.size()) refuse("string without end");
      char c = peek();
      if (c == '"') break;
      if (static_cast<uint8_t>(c) < 0x20) refuse("control character in a string");
      if (c == '\\') {
        ++at_;
        parse_escape(out);
        continue;
      }
      size_t length = utf8_length(text_.substr(at_));
      if (length == 0) refuse("invalid UTF-8");
      out += text_.substr(at_, length);
      at_ += length;
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

JsonValue parse_header_json(std::string_view text) { return Parser(text).parse_all(); }

std::string json_string(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    size_t length = utf8_length(text.substr(at));
    FUSELET_CHECK(length > 0, "a name or value is no UTF-8 at byte ", at);
    uint8_t c = static_cast<uint8_t>(text[at]);
    if (c == '"' || c == '\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (c < 0x20) {
      out += {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out + "\"";
}

}  // namespace fuselet
