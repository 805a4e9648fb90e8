// What the host has to know of a generated source: its kernels in launch order, and for each the fields of its argument
// struct, of eight bytes each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fuselet::cuda::codegen {

struct Field {
  enum class Kind : uint8_t {
    Buffer,   // address of buffer `index`, `number` bytes behind its start
    Scratch,  // address `number` bytes behind the start of the scratch memory
    Number,
    Divisor,  // divisor_word(number)
    Scalar,   // scalar parameter `index`, a double
    Draw,     // random parameter `index`: two words, seed and draw number
    Failed,   // address of the device's int for indices out of range
    Code,     // what is left there by LoadAt `index`, counted over the kernel
  };
  Kind kind;
  int32_t index = 0;
  int64_t number = 0;
};

// Accesses that go `bytes` at a time need the address of `buffer` plus `offset` to be a multiple of `bytes`.
struct AlignedAccess {
  int32_t buffer;
  int64_t offset;
  int32_t bytes;
};

struct NestArguments {
  std::vector<Field> fields;
  int64_t blocks = 0;
};

struct Launch {
  std::string entry;
  unsigned threads = 0;
  // One a nest. More than one: the kernel takes a table, and each block looks up the nest that it belongs to.
  std::vector<NestArguments> nests;
};

struct EmittedKernel {
  std::string source;
  std::vector<Launch> launches;
  std::vector<AlignedAccess> aligned;  // empty: the source does not ask for any
  int64_t scratch_bytes = 0;
};

// The quotient by d, in [1, 2^31), as prelude/places.h wants it: multiplier below, shift above.
uint64_t divisor_word(int64_t d);

}  // namespace fuselet::cuda::codegen
