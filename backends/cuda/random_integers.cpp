#include "backends/cuda/random_integers.h"

#include "backends/codegen/statement_text.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "core/generator.h"
#include "core/random_integers.h"

namespace fuselet::cuda {
namespace {

struct RandintArgs {
  unsigned long long to = 0;
  int64_t count = 0;
  uint64_t seed = 0, draw = 0, range = 0;
  int64_t low = 0;
};

// A thread a block of four random words: four integers of a small range, two of a large one.
constexpr const char* kRandint = R"text(
struct RandintArgs {
  Element* to;
  long count;
  unsigned long seed, draw, range;
  long low;
};
extern "C" __global__ void kernel(const RandintArgs a) {
  const long block = (long)blockIdx.x * blockDim.x + threadIdx.x, first = block * EACH;
  if (first >= a.count) return;
  const philox::Words<unsigned> words = philox::random_block(a.seed, a.draw, (unsigned long)block);
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    if (first + i >= a.count) return;
#if EACH == 4
    const long value = philox::integer_of_word(words.word[i], a.range, a.low);
#else
    const long value = philox::integer_of_words(words.word[2 * i], words.word[2 * i + 1], a.range, a.low);
#endif
    a.to[first + i] = stored<Element>(convert<Element>(value));
  }
}
)text";

}  // namespace

void randint(const Call& call) {
  const Tensor& out = call.outs[0];
  const GeneratorState draw = take_draw();
  const Tensor values = out.is_contiguous() ? out : new_tensor(out.sizes(), out.dtype(), out.device());
  RandintArgs args;
  args.to = address_of(values), args.count = out.numel(), args.seed = draw.seed, args.draw = draw.draws;
  args.low = call.integer(0);
  args.range = static_cast<uint64_t>(call.integer(1)) - static_cast<uint64_t>(args.low);
  const int64_t each = philox::range_fits_word(args.range) ? 4 : 2;
  launch_text_kernel(
      kernel_source({kValuesPrelude, "core/random_integers.h"},
                    {{"Element", fuselet::codegen::stored_type(out.dtype())}}, concat("#define EACH ", each, kRandint)),
      (args.count + each - 1) / each, args, out.device());
  copy_into(out, values);
}

}  // namespace fuselet::cuda
