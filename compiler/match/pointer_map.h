// A small map from pointers to numbers whose clearing costs nothing: entries of an earlier epoch do not count. An entry
// that was taken back stays as a place that nobody finds.
#pragma once
#include <cstdint>
#include <vector>

namespace fuselet::match {

class PointerMap {
 public:
  PointerMap() : slots_(kFirstSlots) {}
  void clear() {
    ++epoch_;
    count_ = 0;
  }
  // -1: none.
  int32_t find(const void* key) const {
    for (size_t i = start(key);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[i];
      if (s.epoch != epoch_) return -1;
      if (s.key == key) return s.value;
    }
  }
  void insert(const void* key, int32_t value) {
    if (2 * ++count_ > slots_.size()) grow();
    put(key, value);
  }
  void erase(const void* key) {
    size_t i = start(key);
    while (slots_[i].key != key || slots_[i].epoch != epoch_) i = (i + 1) & (slots_.size() - 1);
    slots_[i].key = nullptr;
  }

 private:
  struct Slot {
    const void* key = nullptr;
    uint64_t epoch = 0;
    int32_t value = -1;
  };
  static constexpr size_t kFirstSlots = 64;

  size_t start(const void* key) const {
    uint64_t h = reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u;
    return (h >> 32) & (slots_.size() - 1);
  }
  void put(const void* key, int32_t value) {
    size_t i = start(key);
    while (slots_[i].epoch == epoch_) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, epoch_, value};
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.epoch == epoch_) put(s.key, s.value);
    }
  }

  std::vector<Slot> slots_;
  uint64_t epoch_ = 1;
  size_t count_ = 0;
};

}  // namespace fuselet::match
