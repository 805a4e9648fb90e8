// Blocks of device memory and the sets of free ones, by stream and size.
#pragma once
#include <set>
#include <tuple>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda {

struct BlockPool;

// A part of a segment. Neighbours are those of the same segment, in order of address.
struct Block {
  DevicePtr address;
  size_t bytes;
  StreamHandle stream;
  BlockPool* pool;
  Block* before = nullptr;
  Block* after = nullptr;
  size_t requested = 0;
  bool allocated = false;
  bool awaiting = false;  // given back, but streams still use it
  uint64_t freed_at = 0;  // the allocator's count of requests
  std::vector<StreamHandle> other_streams = {};

  bool is_free() const { return !allocated && !awaiting; }
  bool is_whole_segment() const { return !before && !after; }
};

struct SmallestFirst {
  using is_transparent = void;
  struct Request {
    StreamHandle stream;
    size_t bytes;
  };
  static auto key(const Block* b) { return std::tuple(b->stream, b->bytes, b->address); }
  static auto key(const Request& r) { return std::tuple(r.stream, r.bytes, DevicePtr{0}); }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return key(a) < key(b);
  }
};

struct BlockPool {
  bool is_small;
  std::set<Block*, SmallestFirst> free = {};

  // The smallest free block of the stream with at least so many bytes; nullptr if there is none.
  Block* smallest(StreamHandle stream, size_t bytes) const {
    auto it = free.lower_bound(SmallestFirst::Request{stream, bytes});
    return it != free.end() && (*it)->stream == stream ? *it : nullptr;
  }
  // The largest free block of the stream, in bytes.
  size_t largest(StreamHandle stream) const {
    size_t bytes = 0;
    for (const Block* b : free) {
      if (b->stream == stream && b->bytes > bytes) bytes = b->bytes;
    }
    return bytes;
  }
};

}  // namespace fuselet::cuda
