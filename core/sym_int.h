// SymInt: a 64-bit word that holds a size. A concrete size is the number itself and never allocates; a symbolic one is
// a tagged index of an expression in the ShapeEnv of the running recording.
//
// Arithmetic on symbols builds expressions (+, -, *, floor division, modulo, min, max; constants are folded, equal
// expressions share one index). A comparison answers from the hints and adds the guard that this answer took for
// granted. A word whose two top bits are 01 is symbolic: concrete values beyond ±2^62 saturate, which bounds of slices
// like INT64_MAX want; a product that would is an Error.
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
  constexpr SymInt(Int value) : word_(saturate(value)) {}
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
  friend SymInt operator+(SymInt a, SymInt b) { return both_concrete(a, b) ? SymInt(a.word_ + b.word_) : add(a, b); }
  friend SymInt operator-(SymInt a, SymInt b) {
    return both_concrete(a, b) ? SymInt(a.word_ - b.word_) : subtract(a, b);
  }
  friend SymInt operator*(SymInt a, SymInt b) {
    return both_concrete(a, b) ? SymInt(product(a.word_, b.word_)) : multiply(a, b);
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

  static constexpr int64_t kLargest = (int64_t{1} << 62) - 1;

 private:
  template <class Int>
  static constexpr int64_t saturate(Int value) {
    if constexpr (sizeof(Int) == sizeof(int64_t)) {
      if (std::is_unsigned_v<Int> ? value > static_cast<Int>(kLargest) : static_cast<int64_t>(value) > kLargest)
        return kLargest;
      if (std::is_signed_v<Int> && static_cast<int64_t>(value) < -kLargest) return -kLargest;
    }
    return static_cast<int64_t>(value);
  }
  static int64_t product(int64_t a, int64_t b) {
    int64_t out;
    if (__builtin_mul_overflow(a, b, &out) || out > kLargest || out < -kLargest) [[unlikely]]
      fail_product(a, b);
    return out;
  }
  [[noreturn]] static void fail_product(int64_t a, int64_t b);
  static constexpr uint64_t kTag = uint64_t{1} << 62;
  static constexpr SymInt from_word(uint64_t w) {
    SymInt s(0);
    s.word_ = static_cast<int64_t>(w);
    return s;
  }
  static constexpr bool both_concrete(SymInt a, SymInt b) { return !a.is_symbolic() && !b.is_symbolic(); }
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
