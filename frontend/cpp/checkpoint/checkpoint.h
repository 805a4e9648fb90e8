// A whole training run in one safetensors file, so that a resumed run goes on bit for bit as if it had never stopped.
//
//   save_checkpoint("run.safetensors", {.model = &net, .optimizer = &adam, .loader = &loader, .user = counters});
//   State counters = load_checkpoint("run.safetensors", {.model = &net, .optimizer = &adam, .loader = &loader});
//
// The file also holds the default generator's state and a checksum of everything in it.
#pragma once
#include <string>

#include "frontend/cpp/checkpoint/state.h"
#include "frontend/cpp/data/data_loader.h"
#include "frontend/cpp/nn/module.h"
#include "frontend/cpp/optim/lr_scheduler.h"

namespace fuselet {

// The parts of a run; those left out are neither saved nor restored.
struct Checkpoint {
  nn::Module* model = nullptr;
  optim::Optimizer* optimizer = nullptr;
  optim::LRScheduler* scheduler = nullptr;
  data::DataLoader* loader = nullptr;
  bool generator = true;
  State user = {};  // counters and tensors of the caller's own
};

void save_checkpoint(const std::string& path, const Checkpoint& parts);
// Returns the caller's own state. On an Error (a damaged file, a part that the file lacks or that does not fit) every
// part is as it was before.
State load_checkpoint(const std::string& path, const Checkpoint& parts);

}  // namespace fuselet
