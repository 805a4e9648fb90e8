#include "backends/cpu/block_run.h"

#include "backends/cpu/parallel.h"

namespace fuselet::cpu {

void BlockRun::run() const {
  parallel_for(space.numel(), kPointwiseGrain, [this](int64_t begin, int64_t end) { run_range(begin, end); });
}

namespace {

enum class Access : uint8_t { uniform, linear, rows };

Access access_of(const Space& space, int operand) {
  return space.is_uniform(operand) ? Access::uniform : space.is_linear(operand) ? Access::linear : Access::rows;
}

// What a range knows of one operand.
struct Lane {
  Access access;
  int64_t row_stride;
};

}  // namespace

void BlockRun::run_range(int64_t begin, int64_t end) const {
  alignas(64) std::byte blocks[kMaxOperands][kBlock * sizeof(double)];
  const size_t last = space.sizes.size() - 1;
  const int num_inputs = space.operands - 1;
  const bool one_row = space.sizes[last] >= kShortRow || last == 0;
  const int64_t longest = std::min(kBlock, end - begin);
  Lane lanes[kMaxOperands];
  const void* in[kMaxOperands];
  for (int k = 0; k <= num_inputs; ++k) lanes[k] = {access_of(space, k), space.strides[k][last]};
  for (int k = 0; k < num_inputs; ++k) {
    in[k] = blocks[k];
    if (lanes[k + 1].access == Access::uniform) inputs[k].load(inputs[k].data, 0, blocks[k], longest);
  }

  Index at = space.unravel(begin);
  for (int64_t position = begin; position < end;) {
    int64_t n = std::min(kBlock, end - position);
    if (one_row) n = std::min(n, space.sizes[last] - at[last]);
    // The output's place, where the loop can write there at once.
    void* direct = nullptr;
    if (output.as_it_lies) {
      if (lanes[0].access == Access::linear) {
        direct = output.data + position * static_cast<int64_t>(output.element);
      } else if (one_row && lanes[0].row_stride == 1) {
        direct = output.data + space.offset(0, at) * static_cast<int64_t>(output.element);
      }
    }
    for (int k = 0; k < num_inputs; ++k) {
      const BlockInput& input = inputs[k];
      const Lane lane = lanes[k + 1];
      const int64_t bytes = static_cast<int64_t>(input.element);
      void* block = loop || !direct ? blocks[k] : direct;
      if (lane.access == Access::uniform) {
        if (block == direct) input.load(input.data, 0, direct, n);
      } else if (lane.access == Access::linear || one_row) {
        const std::byte* from =
            input.data + (lane.access == Access::linear ? position : space.offset(k + 1, at)) * bytes;
        const int64_t stride = lane.access == Access::linear ? 1 : lane.row_stride;
        if (input.as_it_lies && stride == 1 && block != direct) {
          in[k] = from;
        } else {
          in[k] = block;
          input.load(from, stride, block, n);
        }
      } else {
        in[k] = block;
        space.for_each_run(k + 1, at, n, [&](int64_t offset, int64_t length, int64_t done) {
          input.load(input.data + offset * bytes, lane.row_stride,
                     static_cast<std::byte*>(block) + done * static_cast<int64_t>(compute_element), length);
        });
      }
    }
    const void* result = in[0];
    if (loop) {
      void* to = direct ? direct : blocks[num_inputs];
      loop(to, in, n);
      result = to;
    }
    if (!direct) {
      space.for_each_run(0, at, n, [&](int64_t offset, int64_t length, int64_t done) {
        output.store(static_cast<const std::byte*>(result) + done * static_cast<int64_t>(compute_element),
                     output.data + offset * static_cast<int64_t>(output.element), lanes[0].row_stride, length);
      });
    }
    position += n;
    space.advance(at, n);
  }
}

}  // namespace fuselet::cpu
