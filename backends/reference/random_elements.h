// One element of a random draw, by itself.
#pragma once
#include <cstddef>

#include "core/dtype.h"
#include "core/generator.h"

namespace fuselet::reference {

double uniform_element(GeneratorState draw, size_t element, DType dtype);
double normal_element(GeneratorState draw, size_t element);
bool bernoulli_element(GeneratorState draw, size_t element, uint32_t threshold);

}  // namespace fuselet::reference
