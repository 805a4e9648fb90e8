#include "backends/cpu/gemm.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/gemm_kernel.h"
#include "backends/cpu/gemm_pack.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/parallel.h"

namespace fuselet::cpu {
namespace {

// k's summed in registers before C is touched. A panel of B (256 * 128 bytes) then fits in an L1 cache of 48 KiB
// beside a panel of A (256 * 56 bytes).
constexpr int64_t kGemmDepth = 256;
// Panels of A in a tile: a panel of B, once in L1, meets this many.
constexpr int64_t kTilePanelsA = 8;
// Panels of B in a tile: 16 * 32 KiB, a quarter of an L2 cache of 2 MiB, read again for each panel of A.
constexpr int64_t kTilePanelsB = 16;
// Extent of what is packed at once, bounding the copies to 2 * 32 MiB of float.
constexpr int64_t kChunkRows = 4096, kChunkCols = 4096, kChunkDepth = 2048;
// Multiply-adds that pay for waking a thread: about 20 us of one core.
constexpr int64_t kParallelWork = 1 << 20;

template <class T>
struct Matrix {
  T* data;
  int64_t rs, cs;
  T* at(int64_t row, int64_t col) const { return data + row * rs + col * cs; }
  Matrix from(int64_t row, int64_t col) const { return {at(row, col), rs, cs}; }
  Matrix transposed() const { return {data, cs, rs}; }
};

template <class T>
struct Product {
  int64_t m, n, k;
  Matrix<const T> a, b;
  Matrix<T> c;
  bool accumulate;
};

constexpr int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

template <class T>
constexpr int64_t kPanelA = panel_size<T, kPanelRows>(kGemmDepth);
template <class T>
constexpr int64_t kPanelB = panel_size<T, kPanelCols<T>>(kGemmDepth);

// Scratch of one gemm call or one thread.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)), data_(allocate(bytes_)) {}
  ~Scratch() { deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return static_cast<T*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

// Panel `index` of A's rows or of B's columns, one block of k.
template <class T>
void pack_a(T* dst, const Product<T>& x, int64_t panel, int64_t p, int64_t depth) {
  const int64_t row = panel * kPanelRows;
  const int rows = static_cast<int>(std::min<int64_t>(kPanelRows, x.m - row));
  pack_panel<T, kPanelRows>(dst, x.a.at(row, p), x.a.rs, x.a.cs, rows, depth);
}
template <class T>
void pack_b(T* dst, const Product<T>& x, int64_t panel, int64_t p, int64_t depth) {
  const int64_t col = panel * kPanelCols<T>;
  const int cols = static_cast<int>(std::min<int64_t>(kPanelCols<T>, x.n - col));
  pack_panel<T, kPanelCols<T>>(dst, x.b.at(p, col), x.b.cs, x.b.rs, cols, depth);
}

// One kernel call on packed panels; C is reached directly where its columns are adjacent and fill the vectors.
template <class T>
void multiply_panels(const Product<T>& x, const T* a, const T* b, int64_t panel_a, int64_t panel_b, int64_t depth,
                     bool add) {
  const int64_t row = panel_a * kPanelRows, col = panel_b * kPanelCols<T>;
  const int rows = static_cast<int>(std::min<int64_t>(kPanelRows, x.m - row));
  const int cols = static_cast<int>(std::min<int64_t>(kPanelCols<T>, x.n - col));
  const int vecs = static_cast<int>(ceil_div(cols, kLanes<T>));
  const GemmKernel<T> kernel = gemm_kernel_for<T>(rows, vecs);
  T* c = x.c.at(row, col);
  if (x.c.cs == 1 && cols == vecs * kLanes<T>) return kernel(depth, a, b, kPanelCols<T>, c, x.c.rs, add);

  alignas(kVectorBytes) T tile[kPanelRows * kPanelCols<T>];
  kernel(depth, a, b, kPanelCols<T>, tile, kPanelCols<T>, false);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      T& to = c[i * x.c.rs + j * x.c.cs];
      to = add ? to + tile[i * kPanelCols<T> + j] : tile[i * kPanelCols<T> + j];
    }
  }
}

// Half-open ranges of panels.
struct Tile {
  int64_t a_begin, a_end, b_begin, b_end;
};

// The tile at one block of k. a, b: the tile's first panel, the next ones kPanelA and kPanelB further.
template <class T>
void multiply_tile(const Product<T>& x, const Tile& tile, const T* a, const T* b, int64_t depth, bool add) {
  for (int64_t j = tile.b_begin; j < tile.b_end; ++j) {
    for (int64_t i = tile.a_begin; i < tile.a_end; ++i) {
      multiply_panels(x, a + (i - tile.a_begin) * kPanelA<T>, b + (j - tile.b_begin) * kPanelB<T>, i, j, depth, add);
    }
  }
}

struct TileGrid {
  int64_t panels_a, panels_b, tiles_b, count;
  template <class T>
  static TileGrid of(const Product<T>& x) {
    const int64_t panels_a = ceil_div(x.m, kPanelRows), panels_b = ceil_div(x.n, kPanelCols<T>);
    const int64_t tiles_b = ceil_div(panels_b, kTilePanelsB);
    return {panels_a, panels_b, tiles_b, ceil_div(panels_a, kTilePanelsA) * tiles_b};
  }
  Tile tile(int64_t index) const {
    const int64_t a = index / tiles_b * kTilePanelsA, b = index % tiles_b * kTilePanelsB;
    return {a, std::min(panels_a, a + kTilePanelsA), b, std::min(panels_b, b + kTilePanelsB)};
  }
};

// A tile that packs its own operands: right for small or thin matrices, where little is packed twice.
template <class T>
void multiply_alone(const Product<T>& x, const Tile& tile, T* scratch) {
  T* a = scratch;
  T* b = scratch + (tile.a_end - tile.a_begin) * kPanelA<T>;
  for (int64_t p = 0; p < x.k; p += kGemmDepth) {
    const int64_t depth = std::min(kGemmDepth, x.k - p);
    for (int64_t i = tile.a_begin; i < tile.a_end; ++i) pack_a(a + (i - tile.a_begin) * kPanelA<T>, x, i, p, depth);
    for (int64_t j = tile.b_begin; j < tile.b_end; ++j) pack_b(b + (j - tile.b_begin) * kPanelB<T>, x, j, p, depth);
    multiply_tile(x, tile, a, b, depth, x.accumulate || p > 0);
  }
}

// Packs both operands once, all threads together, then multiplies tile by tile.
template <class T>
void multiply_packed(const Product<T>& x) {
  const TileGrid grid = TileGrid::of(x);
  const int64_t blocks = ceil_div(x.k, kGemmDepth);
  const Scratch<T> a(grid.panels_a * blocks * kPanelA<T>), b(grid.panels_b * blocks * kPanelB<T>);
  // Panels of one block of k lie together: [block][panel].
  parallel_tiles(blocks * (grid.panels_a + grid.panels_b), [&](int64_t task) {
    const int64_t block = task / (grid.panels_a + grid.panels_b), panel = task % (grid.panels_a + grid.panels_b);
    const int64_t p = block * kGemmDepth, depth = std::min(kGemmDepth, x.k - p);
    if (panel < grid.panels_a) {
      pack_a(a.data() + (block * grid.panels_a + panel) * kPanelA<T>, x, panel, p, depth);
    } else {
      const int64_t panel_b = panel - grid.panels_a;
      pack_b(b.data() + (block * grid.panels_b + panel_b) * kPanelB<T>, x, panel_b, p, depth);
    }
  });
  parallel_tiles(grid.count, [&](int64_t index) {
    const Tile tile = grid.tile(index);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t depth = std::min(kGemmDepth, x.k - block * kGemmDepth);
      multiply_tile(x, tile, a.data() + (block * grid.panels_a + tile.a_begin) * kPanelA<T>,
                    b.data() + (block * grid.panels_b + tile.b_begin) * kPanelB<T>, depth,
                    x.accumulate || block > 0);
    }
  });
}

// Chunks bound the memory of the packed copies; k runs innermost, so that every element sums in order.
template <class T>
void multiply_large(const Product<T>& x) {
  for (int64_t row = 0; row < x.m; row += kChunkRows) {
    for (int64_t col = 0; col < x.n; col += kChunkCols) {
      for (int64_t p = 0; p < x.k; p += kChunkDepth) {
        multiply_packed<T>({std::min(kChunkRows, x.m - row), std::min(kChunkCols, x.n - col),
                            std::min(kChunkDepth, x.k - p), x.a.from(row, p), x.b.from(p, col), x.c.from(row, col),
                            x.accumulate || p > 0});
      }
    }
  }
}

template <class T>
Product<T> product_at(const GemmDesc& d, int64_t index) {
  Product<T> x{d.m,
               d.n,
               d.k,
               {static_cast<const T*>(d.a) + index * d.a_bs, d.a_rs, d.a_cs},
               {static_cast<const T*>(d.b) + index * d.b_bs, d.b_rs, d.b_cs},
               {static_cast<T*>(d.c) + index * d.c_bs, d.c_rs, d.c_cs},
               d.accumulate};
  // C^T = B^T A^T gives the same bits; it puts adjacent elements of C, or the longer side of a vector, into lanes.
  if (x.n == 1 || (x.c.cs != 1 && x.c.rs == 1)) {
    return {x.n, x.m, x.k, x.b.transposed(), x.a.transposed(), x.c.transposed(), x.accumulate};
  }
  return x;
}

template <class T>
void write_zeros(const GemmDesc& d) {
  if (d.accumulate) return;
  for (int64_t index = 0; index < d.batch; ++index) {
    const Matrix<T> c = product_at<T>(d, index).c;
    const Product<T> x = product_at<T>(d, index);
    for (int64_t i = 0; i < x.m; ++i) {
      for (int64_t j = 0; j < x.n; ++j) *c.at(i, j) = T(0);
    }
  }
}

template <class T>
void gemm_of(const GemmDesc& d) {
  if (d.k <= 0) return write_zeros<T>(d);
  const Product<T> first = product_at<T>(d, 0);
  const TileGrid grid = TileGrid::of(first);
  const bool is_thin = grid.panels_a <= 2 * kTilePanelsA || grid.panels_b <= kTilePanelsB;
  if (!is_thin) {
    for (int64_t index = 0; index < d.batch; ++index) multiply_large(product_at<T>(d, index));
    return;
  }

  const int64_t scratch = std::min(grid.panels_a, kTilePanelsA) * kPanelA<T> +
                          std::min(grid.panels_b, kTilePanelsB) * kPanelB<T>;
  const int64_t tile_work = d.m * d.n * d.k / grid.count + 1;
  parallel_for(d.batch * grid.count, ceil_div(kParallelWork, tile_work), [&](int64_t begin, int64_t end) {
    const Scratch<T> space(scratch);
    for (int64_t index = begin; index < end; ++index) {
      multiply_alone(product_at<T>(d, index / grid.count), grid.tile(index % grid.count), space.data());
    }
  });
}

}  // namespace

void gemm(const GemmDesc& desc) {
  if (desc.m <= 0 || desc.n <= 0 || desc.batch <= 0) return;
  desc.type == GemmType::f32 ? gemm_of<float>(desc) : gemm_of<double>(desc);
}

}  // namespace fuselet::cpu
