// What a compiled kernel is a function of, as one text: it is stored with the object and compared on a hit.
#pragma once
#include <cstdint>
#include <string>

namespace fuselet::jit {

struct CacheKey {
  const char* folder;        // of the disk cache: the backend's name
  std::string text;          // the settings of the compiler, then the source without comments
  uint64_t hash[2];          // of text
  std::string name() const;  // 32 hexadecimal digits
};

// The source without comments, its first line among them: names and provenance are no part of what is compiled.
std::string without_comments(const std::string& source);
// `settings`: all that shapes the object besides the source.
CacheKey make_key(const char* folder, const std::string& settings, const std::string& source);

// FNV-1a, from a start value of the caller's.
uint64_t hash_bytes(const void* data, size_t bytes, uint64_t start);

}  // namespace fuselet::jit
