// The three trainings of the examples in small: the digits MLP, the digits CNN, a character GPT. Each with AdamW and
// clipping; what a step computes is in step() alone.
#pragma once
#include <fuselet/fuselet.h>

#include <memory>
#include <string>
#include <vector>

namespace fuselet::testing {

enum class Example : uint8_t { DigitsMlp, DigitsCnn, CharGpt };
inline constexpr Example kExamples[] = {Example::DigitsMlp, Example::DigitsCnn, Example::CharGpt};
std::string name_of(Example example);

struct Batch {
  Tensor inputs, targets;
};
// The first batches of the digits, or of a made-up text.
std::vector<Batch> batches_of(Example example, int count);

struct SmallTraining {
  // Seeds the default generator first: two of one seed start alike.
  SmallTraining(Example example, uint64_t seed);

  // Forward, backward, clipping and update; the loss and the norm of the gradients.
  std::vector<Tensor> step(const Batch& batch);
  // Parameters, their gradients, and the optimizer's tensors.
  nn::NamedTensors everything() const;

  std::unique_ptr<nn::Module> model;
  std::unique_ptr<optim::AdamW> optimizer;
};

// Same sizes, dtype and bits.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace fuselet::testing
