#include "backends/jit/cache_key.h"

#include <cstdio>

namespace fuselet::jit {

uint64_t hash_bytes(const void* data, size_t bytes, uint64_t start) {
  uint64_t hash = 0xcbf29ce484222325u ^ start;
  for (size_t i = 0; i < bytes; ++i) {
    hash ^= static_cast<const unsigned char*>(data)[i];
    hash *= 0x100000001b3u;
  }
  return hash ^ hash >> 29;
}

std::string CacheKey::name() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash[0]),
                static_cast<unsigned long long>(hash[1]));
  return text;
}

// Generated units have no "//" but in comments.
std::string without_comments(const std::string& source) {
  std::string text;
  text.reserve(source.size());
  for (size_t at = 0; at < source.size();) {
    const size_t end = source.find('\n', at), stop = end == std::string::npos ? source.size() : end;
    size_t comment = source.find("//", at);
    if (comment > stop) comment = stop;
    while (comment > at && source[comment - 1] == ' ') --comment;
    text.append(source, at, comment - at);
    text += '\n';
    at = stop + 1;
  }
  return text;
}

CacheKey make_key(const char* folder, const std::string& settings, const std::string& source) {
  CacheKey key{folder, settings + "\n" + without_comments(source), {}};
  for (uint64_t i = 0; i < 2; ++i) key.hash[i] = hash_bytes(key.text.data(), key.text.size(), i * 0x9e3779b97f4a7c15u);
  return key;
}

}  // namespace fuselet::jit
