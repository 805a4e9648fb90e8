// Plain text for character models: files, a vocabulary of characters, and windows of a long text.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/cpp/data/dataset.h"

namespace fuselet::data {

// The whole file; Error naming it if it cannot be read.
std::string read_file(const std::string& path);

// The distinct characters (Unicode code points) of a text, numbered in code point order.
class CharVocabulary {
 public:
  // `text` is UTF-8; Error where it is not.
  explicit CharVocabulary(std::string_view text);
  int64_t size() const { return static_cast<int64_t>(characters_.size()); }
  // int64 (length); Error for a character outside the vocabulary.
  Tensor encode(std::string_view text) const;
  // UTF-8 of a 1-d integer tensor.
  std::string decode(const Tensor& tokens) const;
  // All characters in order: CharVocabulary(v.characters()) is the same vocabulary.
  std::string characters() const;

 private:
  std::vector<char32_t> characters_;
  std::map<char32_t, int64_t> number_;
};

// Example i: (tokens i … i + length - 1, the tokens one further), for learning the next token at each place.
class TextWindows : public Dataset {
 public:
  // `tokens`: (N) with N > length.
  TextWindows(Tensor tokens, int64_t length);
  int64_t size() const override { return tokens_.size(0) - length_; }
  Example get(int64_t i) const override;

 private:
  Tensor tokens_;
  int64_t length_;
};

}  // namespace fuselet::data
