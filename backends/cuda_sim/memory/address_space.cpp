#include "backends/cuda_sim/memory/address_space.h"

#include <sys/mman.h>

namespace fuselet::cuda::sim {

AddressSpace g_space;

namespace {

template <class T>
T* reserve_table(size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<T*>(at);
}

// Calls f(word, mask) for the words that hold the bits of the range.
template <class Word, class F>
void for_words(Word* words, uint64_t offset, size_t bytes, F f) {
  while (bytes > 0) {
    size_t first = offset % 64, count = bytes < 64 - first ? bytes : 64 - first;
    f(words[offset / 64], (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first);
    offset += count;
    bytes -= count;
  }
}

}  // namespace

bool AddressSpace::reserve(size_t bytes) {
  if (base != 0) return true;
  span = (bytes + kPage - 1) / kPage * kPage;
  char* memory = reserve_table<char>(span, PROT_NONE);
  owners = reserve_table<Allocation*>(span / kGranule * sizeof(Allocation*), PROT_READ | PROT_WRITE);
  written = reserve_table<uint64_t>(span / 8, PROT_READ | PROT_WRITE);
  cells = reserve_table<RaceCell>(span / 4 * sizeof(RaceCell), PROT_READ | PROT_WRITE);
  if (!memory || !owners || !written || !cells) return false;
  base = reinterpret_cast<uintptr_t>(memory);
  return true;
}

void AddressSpace::commit(uint64_t offset, size_t bytes) {
  mprotect(at(offset), bytes, PROT_READ | PROT_WRITE);
  mark_unwritten(offset, bytes);
}

void AddressSpace::release(uint64_t offset, size_t bytes) {
  madvise(at(offset), bytes, MADV_DONTNEED);
  mprotect(at(offset), bytes, PROT_NONE);
  madvise(&cells[offset / 4], bytes / 4 * sizeof(RaceCell), MADV_DONTNEED);
}

void AddressSpace::mark_written(uint64_t offset, size_t bytes) {
  for_words(written, offset, bytes, [](uint64_t& word, uint64_t mask) { word |= mask; });
}

void AddressSpace::mark_unwritten(uint64_t offset, size_t bytes) {
  for_words(written, offset, bytes, [](uint64_t& word, uint64_t mask) { word &= ~mask; });
}

bool AddressSpace::is_written(uint64_t offset, size_t bytes) const {
  bool all = true;
  for_words(written, offset, bytes, [&](uint64_t word, uint64_t mask) { all &= (word & mask) == mask; });
  return all;
}

void AddressSpace::copy_marks(uint64_t to, uint64_t from, size_t bytes) {
  if (is_written(from, bytes)) return mark_written(to, bytes);
  for (size_t i = 0; i < bytes; ++i) {
    if (is_written(from + i, 1))
      mark_written(to + i, 1);
    else
      mark_unwritten(to + i, 1);
  }
}

}  // namespace fuselet::cuda::sim
