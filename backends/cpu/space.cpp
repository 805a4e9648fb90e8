#include "backends/cpu/space.h"

namespace fuselet::cpu {

Space::Space(DimsView shape) {
  for (SymInt s : shape) sizes.push_back(s.word());
}

void Space::add(DimsView operand_sizes, DimsView operand_strides) {
  Index& step = strides[operands++];
  step.resize(sizes.size(), 0);
  size_t shift = sizes.size() - operand_strides.size();
  for (size_t d = 0; d < operand_strides.size(); ++d) {
    if (operand_sizes[d].word() != 1) step[shift + d] = operand_strides[d].word();
  }
}

void Space::simplify() {
  // By insertion: ranks are small and mostly in order already.
  Index kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    size_t at = kept.size();
    while (at > 0 && strides[0][static_cast<size_t>(kept[at - 1])] < strides[0][d]) --at;
    kept.insert(at, static_cast<int64_t>(d));
  }
  Space simple{DimsView{}};
  simple.operands = operands;
  for (size_t k = 0; k < kept.size(); ++k) {
    const size_t d = static_cast<size_t>(kept[k]);
    bool joins = k > 0;
    for (int o = 0; o < operands && joins; ++o) joins = simple.strides[o].back() == strides[o][d] * sizes[d];
    if (!joins) simple.sizes.push_back(1);
    simple.sizes.back() *= sizes[d];
    for (int o = 0; o < operands; ++o) {
      if (joins) {
        simple.strides[o].back() = strides[o][d];
      } else {
        simple.strides[o].push_back(strides[o][d]);
      }
    }
  }
  if (simple.sizes.empty()) {
    simple.sizes.push_back(1);
    for (int o = 0; o < operands; ++o) simple.strides[o].push_back(0);
  }
  *this = simple;
}

int64_t Space::numel() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

bool Space::is_linear(int operand) const {
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[operand][d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

bool Space::is_uniform(int operand) const {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && strides[operand][d] != 0) return false;
  }
  return true;
}

Index Space::unravel(int64_t position) const {
  Index at(sizes.size(), 0);
  for (size_t d = sizes.size(); d-- > 0;) {
    at[d] = position % sizes[d];
    position /= sizes[d];
  }
  return at;
}

void Space::advance(Index& at, int64_t n) const {
  for (size_t d = sizes.size(); d-- > 0 && n;) {
    n += at[d];
    if (n < sizes[d]) {  // no division where nothing is carried
      at[d] = n;
      return;
    }
    at[d] = n % sizes[d];
    n /= sizes[d];
  }
}

int64_t Space::offset(int operand, const Index& at) const {
  int64_t sum = 0;
  for (size_t d = 0; d < sizes.size(); ++d) sum += at[d] * strides[operand][d];
  return sum;
}

}  // namespace fuselet::cpu
