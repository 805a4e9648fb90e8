#include "core/sym_int.h"

#include "core/dispatch_state.h"
#include "core/error.h"
#include "core/shape_env.h"

namespace fuselet {
namespace {

ShapeEnv& env() {
  ShapeEnv* e = dispatch_state().shape_env;
  FUSELET_INTERNAL_CHECK(e, "a symbolic size is used outside its recording");
  return *e;
}

int64_t floor_divide(int64_t a, int64_t b) {
  FUSELET_CHECK(b != 0, "a size is divided by zero");
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

}  // namespace

SymInt SymInt::fail_too_large() { fail("a size, stride or index is too large: it must stay below 2^62"); }

int64_t SymInt::hint() const { return is_symbolic() ? env().hint(*this) : word_; }

int64_t SymInt::pin() const {
  int64_t value = env().hint(*this);
  env().equal(*this, value);
  return value;
}

SymInt SymInt::add(SymInt a, SymInt b) { return env().build(ShapeEnv::Kind::Add, a, b); }
SymInt SymInt::subtract(SymInt a, SymInt b) { return env().build(ShapeEnv::Kind::Subtract, a, b); }
SymInt SymInt::multiply(SymInt a, SymInt b) { return env().build(ShapeEnv::Kind::Multiply, a, b); }
SymInt SymInt::minimum(SymInt a, SymInt b) { return env().build(ShapeEnv::Kind::Min, a, b); }
SymInt SymInt::maximum(SymInt a, SymInt b) { return env().build(ShapeEnv::Kind::Max, a, b); }

SymInt SymInt::divide(SymInt a, SymInt b) {
  if (both_concrete(a, b)) return floor_divide(a.word_, b.word_);
  return env().build(ShapeEnv::Kind::FloorDivide, a, b);
}

SymInt SymInt::modulo(SymInt a, SymInt b) {
  if (both_concrete(a, b)) return a.word_ - floor_divide(a.word_, b.word_) * b.word_;
  return env().build(ShapeEnv::Kind::Modulo, a, b);
}

bool SymInt::equal(SymInt a, SymInt b) { return a.word_ == b.word_ || env().equal(a, b); }
bool SymInt::less(SymInt a, SymInt b) { return a.word_ != b.word_ && env().less(a, b); }

std::string to_string(SymInt value) {
  if (!value.is_symbolic()) return std::to_string(value.word());
  return env().print(value);
}

}  // namespace fuselet
