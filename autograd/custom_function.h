// A function with a backward of the user's own: its forward runs without recording, then its outputs get one node.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace fuselet {

// Gradients of the outputs (undefined where none arrived) to one gradient an input (undefined for none).
using CustomBackward = std::function<std::vector<Tensor>(std::vector<Tensor>)>;

// Puts `outputs`, computed from `inputs` under no_grad, on the tape. Does nothing if grad mode is off or no input
// requires grad. `released` runs when a backward without retain_graph has used the node. `backward` may be run again
// only before.
void record_custom_function(const std::string& name, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& outputs, CustomBackward backward,
                            std::function<void()> released = {});

}  // namespace fuselet
