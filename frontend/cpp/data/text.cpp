#include "frontend/cpp/data/text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "core/ops/functions.h"
#include "frontend/cpp/values/from_values.h"

namespace fuselet::data {
namespace {

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  for (size_t at = 0; at < text.size();) {
    uint8_t lead = static_cast<uint8_t>(text[at]);
    size_t length = lead < 0x80 ? 1 : (lead >> 5) == 0x6 ? 2 : (lead >> 4) == 0xe ? 3 : (lead >> 3) == 0x1e ? 4 : 0;
    bool good = length > 0 && at + length <= text.size();
    char32_t point = length == 1 ? lead : lead & (0x7f >> length);
    for (size_t i = 1; good && i < length; ++i) {
      uint8_t next = static_cast<uint8_t>(text[at + i]);
      good = (next >> 6) == 0x2;
      point = point << 6 | (next & 0x3f);
    }
    FUSELET_CHECK(good, "CharVocabulary: the text is no UTF-8 at byte ", at);
    points.push_back(point);
    at += length;
  }
  return points;
}

void append_utf8(std::string& out, char32_t point) {
  size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  if (length == 1) {
    out += static_cast<char>(point);
    return;
  }
  constexpr uint8_t kLeads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLeads[length] | (point >> (6 * (length - 1))));
  for (size_t i = length - 1; i-- > 0;) out += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3f));
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  FUSELET_CHECK(file, "cannot open '", path, "': ", std::strerror(errno));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  // A directory opens, and fails when read; an empty file sets failbit on `bytes` alone.
  FUSELET_CHECK(!file.bad(), "cannot read '", path, "'");
  return std::move(bytes).str();
}

CharVocabulary::CharVocabulary(std::string_view text) {
  std::vector<char32_t> points = code_points(text);
  std::set<char32_t> distinct(points.begin(), points.end());
  for (char32_t point : distinct) {
    number_[point] = size();
    characters_.push_back(point);
  }
}

Tensor CharVocabulary::encode(std::string_view text) const {
  std::vector<int64_t> tokens;
  for (char32_t point : code_points(text)) {
    auto at = number_.find(point);
    if (at == number_.end()) {
      std::string shown;
      append_utf8(shown, point);
      fail("CharVocabulary: the character '", shown, "' at place ", tokens.size(), " is not in the vocabulary");
    }
    tokens.push_back(at->second);
  }
  return copy_bytes(tokens.data(), IntList(tokens.size()), DType::Int64);
}

std::string CharVocabulary::decode(const Tensor& tokens) const {
  std::string text;
  for (double token : tokens.to_vector()) {
    FUSELET_CHECK_INDEX(token >= 0 && token < static_cast<double>(size()), "CharVocabulary: token ", token, " of ",
                        size());
    append_utf8(text, characters_[static_cast<size_t>(token)]);
  }
  return text;
}

std::string CharVocabulary::characters() const {
  std::string text;
  for (char32_t point : characters_) append_utf8(text, point);
  return text;
}

TextWindows::TextWindows(Tensor tokens, int64_t length) : tokens_(std::move(tokens)), length_(length) {
  FUSELET_CHECK(length > 0 && tokens_.dim() == 1 && tokens_.size(0) > length, "TextWindows: expected more than ",
                length, " tokens in one dimension, got shape ", to_string(tokens_.sizes()));
}

Example TextWindows::get(int64_t i) const {
  FUSELET_CHECK_INDEX(i >= 0 && i < size(), "TextWindows: window ", i, " of ", size());
  return {tokens_.narrow(0, i, length_), tokens_.narrow(0, i + 1, length_)};
}

}  // namespace fuselet::data
