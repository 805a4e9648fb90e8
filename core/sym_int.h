// SymInt: a 64-bit word that holds a size. A concrete size is the number itself and never allocates; a symbolic one is
// a tagged index of an expression in the ShapeEnv of the running recording.
//
// Arithmetic on symbols builds expressions (+, -, *, floor division, modulo, min, max; constants are folded, equal
// expressions share one index). A comparison answers from the hints and adds the guard that this answer took for
// granted. A word whose two top bits are 01 is symbolic, so concrete values stay below 2^62: Error for a number, sum or
// product that does not.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

namespace fuselet {

class SymInt {
 public:
  SymInt() = default;
  template <class Int>
  requires std::is_integral_v<Int>
  constexpr SymInt(Int value) : word_(static_cast<int64_t>(value)) {
    if (is_symbolic()) fail_too_large();
  }
  static constexpr SymInt symbolic(int32_t index) { return from_word(kTag | static_cast<uint32_t>(index)); }

  constexpr bool is_symbolic() const { return (static_cast<uint64_t>(word_) >> 62) == 1; }
  constexpr int32_t index() const { return static_cast<int32_t>(word_ & 0x7fffffff); }
  constexpr int64_t word() const { return word_; }

  // The number itself; a symbol is pinned to its hint by an equality guard.
  int64_t concrete() const { return is_symbolic() ? pin() : word_; }
  // The value in this call; adds no guard, so nothing that is recorded may depend on it.
  int64_t hint() const;

  SymInt& operator+=(SymInt o) { return *this = *this + o; }
  SymInt& operator*=(SymInt o) { return *this = *this * o; }
  friend SymInt operator+(SymInt a, SymInt b) {
    if (!both_concrete(a, b)) return add(a, b);
    int64_t sum = 0;
    return __builtin_add_overflow(a.word_, b.word_, &sum) ? fail_too_large() : SymInt(sum);
  }
  friend SymInt operator-(SymInt a, SymInt b) {
    if (!both_concrete(a, b)) return subtract(a, b);
    int64_t difference = 0;
    return __builtin_sub_overflow(a.word_, b.word_, &difference) ? fail_too_large() : SymInt(difference);
  }
  friend SymInt operator*(SymInt a, SymInt b) {
    if (!both_concrete(a, b)) return multiply(a, b);
    int64_t product = 0;
    return __builtin_mul_overflow(a.word_, b.word_, &product) ? fail_too_large() : SymInt(product);
  }
  friend SymInt operator-(SymInt a) { return SymInt(0) - a; }
  // Rounds toward minus infinity.
  friend SymInt operator/(SymInt a, SymInt b) { return divide(a, b); }
  friend SymInt operator%(SymInt a, SymInt b) { return modulo(a, b); }
  friend SymInt min(SymInt a, SymInt b) {
    return both_concrete(a, b) ? SymInt(a.word_ < b.word_ ? a.word_ : b.word_) : minimum(a, b);
  }
  friend SymInt max(SymInt a, SymInt b) {
    return both_concrete(a, b) ? SymInt(a.word_ > b.word_ ? a.word_ : b.word_) : maximum(a, b);
  }

  friend bool operator==(SymInt a, SymInt b) { return both_concrete(a, b) ? a.word_ == b.word_ : equal(a, b); }
  friend bool operator!=(SymInt a, SymInt b) { return !(a == b); }
  friend bool operator<(SymInt a, SymInt b) { return both_concrete(a, b) ? a.word_ < b.word_ : less(a, b); }
  friend bool operator>(SymInt a, SymInt b) { return b < a; }
  friend bool operator<=(SymInt a, SymInt b) { return !(b < a); }
  friend bool operator>=(SymInt a, SymInt b) { return !(a < b); }

 private:
  static constexpr uint64_t kTag = uint64_t{1} << 62;
  static constexpr SymInt from_word(uint64_t w) {
    SymInt s;
    s.word_ = static_cast<int64_t>(w);
    return s;
  }
  static constexpr bool both_concrete(SymInt a, SymInt b) { return !a.is_symbolic() && !b.is_symbolic(); }
  [[noreturn, gnu::cold]] static SymInt fail_too_large();
  int64_t pin() const;
  static SymInt add(SymInt, SymInt), subtract(SymInt, SymInt), multiply(SymInt, SymInt), divide(SymInt, SymInt),
      modulo(SymInt, SymInt), minimum(SymInt, SymInt), maximum(SymInt, SymInt);
  static bool equal(SymInt, SymInt), less(SymInt, SymInt);

  int64_t word_ = 0;
};

static_assert(sizeof(SymInt) == 8 && std::is_trivially_copyable_v<SymInt>);

// "12", "s0", "(s0 + 3)".
std::string to_string(SymInt value);

}  // namespace fuselet
