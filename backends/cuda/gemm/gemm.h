// Matrix products on a CUDA device: what to compute, and who computes it.
//
// D = epilogue(alpha A B + beta C) for `batch` products; A (m, k), B (k, n), C and D (m, n). Each is a strided view,
// strides in elements, so that transposed, sliced and broadcast operands (batch_stride 0) need no copy. On entry:
// reason_refused() is nullptr; D overlaps no operand but C, which may be D. On exit the product is enqueued: bits are
// a function of the desc without its addresses (their alignment counts up to 16 bytes), the device and the library.
// an empty D launches nothing. Not handled: k == 0, integers, complex numbers, 8-bit floats.
#pragma once
#include <cstdint>
#include <string>

#include "backends/cuda/driver/driver_api.h"
#include "core/dtype.h"

namespace fuselet::cuda {

// Row j of the bias belongs to column j of D: bias (n). z = alpha A B + beta C; gelu is the tanh form; every step in
// the compute type. Forms with Aux also store what the backward form reads: of relu a bit mask, of gelu the z + bias.
enum class Epilogue : uint8_t {
  None,           // D = z
  Bias,           // D = z + bias
  Relu,           // D = relu(z)
  ReluBias,       // D = relu(z + bias)
  ReluAux,        // and aux = z > 0
  ReluAuxBias,    // and aux = z + bias > 0
  Gelu,           // D = gelu(z)
  GeluBias,       // D = gelu(z + bias)
  GeluAux,        // and aux = z
  GeluAuxBias,    // and aux = z + bias
  ReluGrad,       // D = aux ? z : 0
  ReluGradSum,    // and bias = column sums of D
  GeluGrad,       // D = z gelu'(aux)
  GeluGradSum,    // and bias = column sums of D
  RowSumsOfA,     // D = z, bias (m) = sums of A over k: the bias gradient beside a weight gradient
  ColumnSumsOfB,  // D = z, bias (n) = sums of B over k
};
const char* name_of(Epilogue epilogue);

struct GemmMatrix {
  DevicePtr data = 0;
  int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
};

struct GemmDesc {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmMatrix a, b, c, d;  // c is read only where beta is not 0
  double alpha = 1, beta = 0;
  // A and B, and C and D: float32 to float32, float64 to float64, float16 and bfloat16 to themselves or float32.
  // Sums are of float32, or float64.
  DType in = DType::Float32, out = DType::Float32;
  // Multiply float32 with 10 bits of mantissa; see core/matmul_precision.h.
  bool allow_tf32 = false;
  Epilogue epilogue = Epilogue::None;
  DevicePtr bias = 0;  // of dtype `out`
  // Aux, row-major (m, n): elements of `out`, or bits; strides in these.
  DevicePtr aux = 0;
  int64_t aux_row_stride = 0, aux_batch_stride = 0;
};

// "float32 (128, 64) x (64, 32), 4 products, relu_bias": for messages.
std::string to_string(const GemmDesc& desc);
// Why no library takes the product as it lies; nullptr if one does.
const char* reason_refused(const GemmDesc& desc);
// True iff a matrix of these sizes and strides can be an operand: one stride is 1 and the other spans it.
bool lies_as_operand(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride);

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual const char* name() const = 0;
  // Enqueues the product on `stream`, a stream of the library's device. Throws Error where it cannot.
  void run(const GemmDesc& desc, StreamHandle stream);

 protected:
  // A product that is not refused, nor empty.
  virtual void enqueue(const GemmDesc& desc, StreamHandle stream) = 0;
};

}  // namespace fuselet::cuda
