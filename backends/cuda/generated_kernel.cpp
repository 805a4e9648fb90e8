#include "backends/cuda/generated_kernel.h"

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/index_failures.h"
#include "backends/cuda/streams/stream.h"

namespace fuselet::cuda {

using codegen::Field;
using codegen::Launch;
using codegen::NestArguments;

namespace {

struct LaunchInputs {
  void* const* buffers;
  const double* scalars;
  const GeneratorState* randoms;
  void* scratch;
  const int* failed;
};

void append(const NestArguments& nest, const LaunchInputs& in, const std::vector<int64_t>& codes,
            std::vector<uint64_t>& words) {
  for (const Field& f : nest.fields) {
    switch (f.kind) {
      case Field::Kind::Buffer:
        words.push_back(reinterpret_cast<uint64_t>(in.buffers[f.index]) + static_cast<uint64_t>(f.number));
        break;
      case Field::Kind::Scratch:
        words.push_back(reinterpret_cast<uint64_t>(in.scratch) + static_cast<uint64_t>(f.number));
        break;
      case Field::Kind::Number:
        words.push_back(static_cast<uint64_t>(f.number));
        break;
      case Field::Kind::Divisor:
        words.push_back(codegen::divisor_word(f.number));
        break;
      case Field::Kind::Scalar:
        words.push_back(__builtin_bit_cast(uint64_t, in.scalars[f.index]));
        break;
      case Field::Kind::Draw:
        words.push_back(in.randoms[f.index].seed);
        words.push_back(in.randoms[f.index].draws);
        break;
      case Field::Kind::Failed:
        words.push_back(reinterpret_cast<uint64_t>(in.failed));
        break;
      case Field::Kind::Code:
        words.push_back(static_cast<uint64_t>(codes[static_cast<size_t>(f.index)]));
        break;
    }
  }
}

std::vector<int64_t> codes_of(const kernel::Kernel& kernel) {
  std::vector<int64_t> codes;
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Nest& nest : stage.nests) {
      for (const kernel::Statement& s : nest.body) {
        if (s.kind != kernel::Kind::LoadAt) continue;
        codes.push_back(failure_code(s.note, s.indices[0].size));
      }
    }
  }
  return codes;
}

}  // namespace

GeneratedKernel::GeneratedKernel(const kernel::Kernel& kernel) : codes_(codes_of(kernel)) {
  variants_[kAligned].emitted = codegen::emit_kernel(kernel, true);
  variants_[kAny].emitted = codegen::emit_kernel(kernel, false);
}

void GeneratedKernel::set_module(const jit::BuiltModule& module) {
  load(variants_[kAligned], module.module, current_device());
}

const GeneratedKernel::Functions& GeneratedKernel::load(const Variant& variant,
                                                        std::shared_ptr<const jit::LoadedModule> module,
                                                        int device) const {
  auto functions = std::make_unique<Functions>();
  for (const Launch& l : variant.emitted.launches) functions->handles.push_back(module->function(l.entry));
  functions->module = std::move(module);
  std::lock_guard lock(mutex_);
  owned_.push_back(std::move(functions));
  variant.of_device[static_cast<size_t>(device)].store(owned_.back().get(), std::memory_order_release);
  return *owned_.back();
}

const GeneratedKernel::Functions& GeneratedKernel::functions_of(const Variant& variant) const {
  const int device = current_device();
  if (const Functions* known = variant.of_device[static_cast<size_t>(device)].load(std::memory_order_acquire))
    return *known;
  return load(variant, jit::build_modules({&variant.emitted.source, 1})[0].module, device);
}

bool GeneratedKernel::are_aligned(void* const* buffers) const {
  for (const codegen::AlignedAccess& a : variants_[kAligned].emitted.aligned) {
    const uint64_t address = reinterpret_cast<uint64_t>(buffers[a.buffer]) + static_cast<uint64_t>(a.offset);
    if (address % static_cast<uint64_t>(a.bytes) != 0) return false;
  }
  return true;
}

// Device memory that holds the words: as it was left where they are the same, as in a training loop. The caller holds
// table_mutex_ until it has launched: another thread's table would lie in the same memory.
uint64_t GeneratedKernel::table(const Variant& variant, size_t launch, std::vector<uint64_t> words) const {
  const int device = current_device();
  const StreamHandle stream = current_stream_handle(device);
  Table& t = tables_[{&variant, launch, stream}];
  const size_t bytes = words.size() * sizeof(uint64_t);
  if (!t.memory) t.memory = make_intrusive<Storage>(bytes, Device{DeviceType::CUDA, static_cast<int8_t>(device)});
  const auto address = reinterpret_cast<DevicePtr>(t.memory->data());
  if (t.words != words) {
    t.words.clear();
    check(driver().cuMemcpyHtoDAsync(address, words.data(), bytes, stream), "cuMemcpyHtoDAsync");
    t.words = std::move(words);
  }
  return address;
}

void GeneratedKernel::launch(void* const* buffers, const double* scalars, const GeneratorState* randoms,
                             void* scratch) const {
  if (!has_launches()) return;
  make_current(current_device());
  const Variant& variant = variants_[are_aligned(buffers) ? kAligned : kAny];
  const Functions& functions = functions_of(variant);
  const int device = current_device();
  const StreamHandle stream = current_stream_handle(device);
  const LaunchInputs in{buffers, scalars, randoms, scratch, codes_.empty() ? nullptr : failure_cell(device)};
  std::vector<uint64_t> words;
  for (size_t i = 0; i < variant.emitted.launches.size(); ++i) {
    const Launch& l = variant.emitted.launches[i];
    words.clear();
    std::unique_lock tables(table_mutex_, std::defer_lock);
    int64_t blocks = 0;
    for (const NestArguments& nest : l.nests) append(nest, in, codes_, words);
    if (l.nests.size() > 1) {
      const size_t first_blocks = words.size() * sizeof(uint64_t);
      for (const NestArguments& nest : l.nests) {
        words.push_back(static_cast<uint64_t>(blocks));
        blocks += nest.blocks;
      }
      tables.lock();
      const uint64_t at = table(variant, i, words);
      words = {at, at + first_blocks, l.nests.size()};
    } else {
      blocks = l.nests[0].blocks;
    }
    void* parameters[] = {words.data()};
    check(driver().cuLaunchKernel(functions.handles[i], static_cast<unsigned>(blocks), 1, 1, l.threads, 1, 1, 0, stream,
                                  parameters, nullptr),
          "cuLaunchKernel");
  }
}

}  // namespace fuselet::cuda
