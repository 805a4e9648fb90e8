#include "backends/cuda/argsort.h"

#include "backends/cuda/kernel_source.h"
#include "backends/cuda/scatter/sorted_indices.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"

namespace fuselet::cuda {
namespace {

// Letters: R lines of L elements; keys: (R, 2^shift).
struct ArgsortArgs {
  unsigned long long elements = 0, order = 0;  // order: keys of the lower halves, sorted; null where there are none
  unsigned long long keys = 0, places = 0;
  int64_t count = 0, length = 0, shift = 0;
};

constexpr const char* kArgs = R"text(
struct ArgsortArgs {
  const Element* elements;
  const unsigned long* order;
  unsigned long* keys;
  long* places;
  long count, length, shift;
};
// The place in its line of what the sorted key number `at` stands for.
__device__ __forceinline__ long place_of(const ArgsortArgs& a, const unsigned long* keys, long at) {
  return (long)(keys[at] & ((1ul << a.shift) - 1));
}
)text";

// A thread a key. UPPER: the upper half of 64 bits, in the order of the lower ones.
constexpr const char* kMakeKeys = R"text(
// Unsigned numbers of the element's width, ordered as the elements are; NaN is all ones.
__device__ __forceinline__ Element ordered(Element bits) {
#if IS_FLOAT
  const Element magnitude = bits & (Element)~SIGN;
  if (magnitude > (Element)INFINITE) return (Element)~(Element)0;
  if (magnitude == 0) return (Element)SIGN;
  return bits & SIGN ? (Element)~bits : (Element)(bits | SIGN);
#else
  return (Element)(bits ^ SIGN);
#endif
}
extern "C" __global__ void kernel(const ArgsortArgs a) {
  const long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.count) return;
  const long line = at >> a.shift, position = at & ((1l << a.shift) - 1);
  unsigned long key = ~0ul;  // of no element
  if (position < a.length) {
    const long place = a.order ? place_of(a, a.order, at) : position;
    Element bits = ordered(a.elements[line * a.length + place]);
    if (DESCENDING) bits = (Element)~bits;
#if UPPER
    const unsigned long half = (unsigned long)bits >> 32;
#else
    const unsigned long half = (unsigned long)bits & 0xfffffffful;
#endif
    key = half << a.shift | (unsigned long)position;
  }
  a.keys[at] = key;
}
)text";

// A thread an element of the result.
constexpr const char* kWritePlaces = R"text(
extern "C" __global__ void kernel(const ArgsortArgs a) {
  const long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.count) return;
  const long line = at / a.length, first = line << a.shift;
  long place = place_of(a, a.keys, first + at % a.length);
  if (a.order) place = place_of(a, a.order, first + place);
  a.places[at] = place;
}
)text";

// Elements as bits: the type, and the definitions of its order.
struct Bits {
  const char* type;
  const char* order;
};
Bits bits_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return {"unsigned long",
              "#define IS_FLOAT 1\n#define SIGN 0x8000000000000000ul\n#define INFINITE 0x7ff0000000000000ul"};
    case DType::Float32:
      return {"unsigned", "#define IS_FLOAT 1\n#define SIGN 0x80000000u\n#define INFINITE 0x7f800000u"};
    case DType::Float16:
      return {"unsigned short", "#define IS_FLOAT 1\n#define SIGN 0x8000u\n#define INFINITE 0x7c00u"};
    case DType::BFloat16:
      return {"unsigned short", "#define IS_FLOAT 1\n#define SIGN 0x8000u\n#define INFINITE 0x7f80u"};
    case DType::Int64:
      return {"unsigned long", "#define IS_FLOAT 0\n#define SIGN 0x8000000000000000ul"};
    case DType::Int32:
      return {"unsigned", "#define IS_FLOAT 0\n#define SIGN 0x80000000u"};
    case DType::Int8:
      return {"unsigned char", "#define IS_FLOAT 0\n#define SIGN 0x80u"};
    case DType::UInt8:
    case DType::Bool:
      return {"unsigned char", "#define IS_FLOAT 0\n#define SIGN 0u"};
  }
  return {};
}

std::string key_text(DType dtype, bool descending, bool upper) {
  const Bits bits = bits_of(dtype);
  const std::string defines =
      concat(bits.order, "\n#define DESCENDING ", descending ? 1 : 0, "\n#define UPPER ", upper ? 1 : 0, "\n");
  return kernel_source({kPlacesPrelude}, {{"Element", bits.type}}, defines + kArgs + kMakeKeys);
}

}  // namespace

void argsort(const Call& call) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  if (out.numel() == 0) return;
  const Device device = out.device();
  const int64_t dim = wrap_dim(call.integer(1), self.dim(), "argsort");
  int64_t outer = 1, length = 1, inner = 1;
  for (int64_t d = 0; d < self.dim(); ++d) (d < dim ? outer : d == dim ? length : inner) *= self.size(d);
  ArgsortArgs args;
  args.length = length;
  while (int64_t{1} << args.shift < length) ++args.shift;
  FUSELET_CHECK(args.shift < 32, "argsort: a line of ", length, " elements is too long to be sorted on this device");

  // (O, L, I) as lines (O, I, L).
  const Dims by_line = {outer, inner, length}, apart = {length * inner, 1, inner};
  const Tensor rows = dense(self, self.dtype());
  const Tensor elements = dense(view_of(rows, by_line, apart), self.dtype());
  args.elements = address_of(elements);
  const auto sorted_keys = [&](bool upper) {
    const Tensor keys = new_tensor(Dims{outer * inner << args.shift}, DType::Int64, device);
    args.keys = address_of(keys), args.count = keys.numel();
    launch_text_kernel(key_text(self.dtype(), call.flag(2), upper), args.count, args, device);
    sort_keys(keys, static_cast<int>(args.shift));
    return keys;
  };
  const Tensor lower = sorted_keys(false);
  Tensor upper;
  if (size_of(self.dtype()) == 8) {
    args.order = address_of(lower);
    upper = sorted_keys(true);
  }
  const Tensor places = new_tensor(by_line, DType::Int64, device);
  args.places = address_of(places), args.count = places.numel();
  launch_text_kernel(
      kernel_source({kPlacesPrelude}, {{"Element", bits_of(self.dtype()).type}}, concat(kArgs, kWritePlaces)),
      args.count, args, device);
  copy_into(view_of(out, by_line, apart), places);
}

}  // namespace fuselet::cuda
