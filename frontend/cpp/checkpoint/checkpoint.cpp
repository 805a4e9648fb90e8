#include "frontend/cpp/checkpoint/checkpoint.h"

#include <cstring>

#include "core/dispatch_state.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "frontend/cpp/checkpoint/safetensors.h"

namespace fuselet {
namespace {

constexpr const char *kFormatKey = "fuselet.checkpoint", *kFormat = "1", *kChecksumKey = "fuselet.checksum";

// FNV-1a with 64 bits, over lengths as well as bytes.
class Checksum {
 public:
  void add(const void* data, size_t size) {
    add_bytes(&size, sizeof(size));
    add_bytes(data, size);
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
  }
  uint64_t value_ = 0xcbf29ce484222325u;
};

std::string checksum_of(const State& state) {
  Checksum sum;
  for (const auto& [name, value] : state.values) {
    sum.add(name);
    sum.add(value);
  }
  for (const auto& [name, value] : state.tensors) {
    Tensor dense = value.contiguous();
    sum.add(name);
    sum.add(concat(name_of(dense.dtype()), to_string(dense.sizes())));
    sum.add(dense.numel() ? dense.raw_data() : nullptr, static_cast<size_t>(dense.numel()) * size_of(dense.dtype()));
  }
  return std::to_string(sum.value());
}

bool has_part(const State& state, const char* part) { return state.has(concat("part.", part)); }

State part_of(const State& state, const char* part, const std::string& path) {
  FUSELET_CHECK(has_part(state, part), "load_checkpoint: '", path, "' holds no ", part);
  return state.extract(part);
}

}  // namespace

void save_checkpoint(const std::string& path, const Checkpoint& parts) {
  NoGradGuard no_grad;
  State all;
  auto add = [&](const char* name, const State& state) {
    all.values[concat("part.", name)] = "1";
    all.insert(name, state);
  };
  if (parts.model) add("model", {parts.model->state_dict(), {}});
  if (parts.optimizer) add("optimizer", parts.optimizer->state_dict());
  if (parts.scheduler) add("scheduler", parts.scheduler->state_dict());
  if (parts.loader) add("loader", parts.loader->state_dict());
  if (parts.generator) {
    GeneratorState drawn = default_generator().state();
    State state;
    state.set_uint("seed", drawn.seed);
    state.set_uint("draws", drawn.draws);
    add("generator", state);
  }
  add("user", parts.user);
  all.values[kFormatKey] = kFormat;
  std::map<std::string, std::string> metadata = all.values;
  metadata[kChecksumKey] = checksum_of(all);
  save_safetensors(path, all.tensors, metadata);
}

State load_checkpoint(const std::string& path, const Checkpoint& parts) {
  NoGradGuard no_grad;
  SafetensorsFile file = load_safetensors(path);
  State all{std::move(file.tensors), std::move(file.metadata)};
  FUSELET_CHECK(all.has(kFormatKey), "load_checkpoint: '", path,
                "' is a safetensors file, but no checkpoint; load_safetensors reads it");
  FUSELET_CHECK(all.get_text(kFormatKey) == kFormat, "load_checkpoint: '", path, "' is of version ",
                all.get_text(kFormatKey), ", expected ", kFormat);
  std::string expected = all.get_text(kChecksumKey);
  all.values.erase(kChecksumKey);
  FUSELET_CHECK(checksum_of(all) == expected, "load_checkpoint: '", path,
                "' is damaged: its checksum does not fit its content");

  GeneratorState drawn;
  if (parts.generator) {
    State state = part_of(all, "generator", path);
    drawn = {state.get_uint("seed"), state.get_uint("draws")};
  }
  // Each part checks before it changes, so only those already loaded need to go back. The scheduler sets the
  // optimizer's rates, hence comes after it and goes back before it.
  State old_optimizer, old_scheduler, old_loader;
  if (parts.optimizer) old_optimizer = parts.optimizer->state_dict();
  if (parts.scheduler) old_scheduler = parts.scheduler->state_dict();
  if (parts.loader) old_loader = parts.loader->state_dict();
  int loaded = 0;
  try {
    if (parts.optimizer) parts.optimizer->load_state_dict(part_of(all, "optimizer", path));
    loaded = 1;
    if (parts.scheduler) parts.scheduler->load_state_dict(part_of(all, "scheduler", path));
    loaded = 2;
    if (parts.loader) parts.loader->load_state_dict(part_of(all, "loader", path));
    loaded = 3;
    if (parts.model) parts.model->load_state_dict(part_of(all, "model", path).tensors);
  } catch (...) {
    if (parts.loader && loaded >= 3) parts.loader->load_state_dict(old_loader);
    if (parts.scheduler && loaded >= 2) parts.scheduler->load_state_dict(old_scheduler);
    if (parts.optimizer && loaded >= 1) parts.optimizer->load_state_dict(old_optimizer);
    throw;
  }
  if (parts.generator) default_generator().set_state(drawn);
  return all.extract("user");
}

}  // namespace fuselet
