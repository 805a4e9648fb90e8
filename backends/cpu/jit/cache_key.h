// What a compiled kernel is a function of, as one text: it is stored with the object and compared on a hit.
#pragma once
#include <cstdint>
#include <string>

#include "backends/cpu/jit/toolchain.h"

namespace fuselet::cpu::jit {

// Raised when what generated units expect of the library changes: the entry's arguments, Runtime, GeneratorState.
inline constexpr int kInterfaceVersion = 1;

struct CacheKey {
  std::string text;          // compiler, flags, processor, version of the interface, and the source without comments
  uint64_t hash[2];          // of text
  std::string name() const;  // 32 hexadecimal digits
};

// The source without comments, its first line among them: names and provenance are no part of what is compiled.
std::string without_comments(const std::string& source);
CacheKey make_key(const Toolchain& toolchain, const std::string& source);

// FNV-1a, from a start value of the caller's.
uint64_t hash_bytes(const void* data, size_t bytes, uint64_t start);

}  // namespace fuselet::cpu::jit
