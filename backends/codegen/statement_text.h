// What all emitters write alike of a statement: type names, literals, and the name of its value.
#pragma once
#include <string>

#include "compiler/lower/kernel.h"

namespace fuselet::codegen {

// The C++ type of an element, and of a scalar that holds it.
const char* stored_type(DType t);
const char* held_type(DType t);
// The dtype that the held type of t holds in full.
DType widest(DType t);

// What the accumulator of a Reduce is held in: Float32, Float64 or Int64; and the functor's name.
DType accumulator(const kernel::Statement& s);
const char* combine_name(const kernel::Statement& s);

// "gelu_erf_7", after the operator and the statement's number.
std::string value_name(const kernel::Statement& s, int i);
// The number of a Constant.
std::string constant_text(const kernel::Statement& s);
// "  // gelu_erf, train.py:33", or nothing.
std::string note_text(const kernel::Statement& s);

}  // namespace fuselet::codegen
