#include "backends/cpu/gemm.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/gemm_kernel.h"
#include "backends/cpu/gemm_pack.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/parallel.h"

namespace fuselet::cpu {
namespace {

// k's summed in registers before C is touched; part of gemm's promise. A panel of B (256 * 128 bytes) then fits in an
// L1 cache of 48 KiB beside a panel of A (256 * 56 bytes).
constexpr int64_t kGemmDepth = 256;
// Panels in a tile, at most. A panel of B, once in L1, meets 8 panels of A (112 KiB, in L2), and those meet 8 of B.
constexpr int64_t kTilePanelsA = 8, kTilePanelsB = 8;
// Tiles that a product large enough to share is cut into, at least: enough that the last ones even out the threads.
constexpr int64_t kTilesToShare = 32;
// Panels that a thread packs at a time: some microseconds of work, so that taking the next ones costs little.
constexpr int64_t kPanelsPerTask = 8;
// Extent of what is packed at once, bounding the copies to 2 * 32 MiB of float.
constexpr int64_t kChunkRows = 4096, kChunkCols = 4096, kChunkDepth = 2048;
// Multiply-adds that pay for waking a thread: about 20 us of one core.
constexpr int64_t kParallelWork = 1 << 20;
// Multiply-adds from which both operands are packed once by all threads together, instead of by each tile.
constexpr int64_t kSharedWork = 1 << 22;
// An operand this small, in bytes, stays in L1 (48 KiB) while the tile uses it where it lies.
constexpr int64_t kDirectBytes = 32 * 1024;
// Rows a multiple of this many bytes apart fall into one set of L1.
constexpr int64_t kConflictBytes = 4096;

template <class T>
struct Matrix {
  T* data;
  int64_t rs, cs;
  T* at(int64_t row, int64_t col) const { return data + row * rs + col * cs; }
  Matrix from(int64_t row, int64_t col) const { return {at(row, col), rs, cs}; }
  Matrix transposed() const { return {data, cs, rs}; }
};

// Where a product's C lies in the caller's, for what follows it.
struct Follow {
  const GemmPostWork* post_work = nullptr;
  int64_t batch = 0, row = 0, column = 0;
  bool is_transposed = false;
  bool is_complete = true;  // no later block of k adds to C

  Follow from(int64_t rows, int64_t columns, bool complete) const {
    return {post_work, batch, row + rows, column + columns, is_transposed, complete};
  }
  void finished(int64_t first_row, int64_t row_end, int64_t first_column, int64_t column_end) const {
    if (!post_work || !is_complete) return;
    GemmPart part{batch, row + first_row, row + row_end, column + first_column, column + column_end};
    if (is_transposed) part = {batch, part.column, part.column_end, part.row, part.row_end};
    (*post_work)(part);
  }
};

template <class T>
struct Product {
  int64_t m, n, k;
  Matrix<const T> a, b;
  Matrix<T> c;
  bool accumulate;
  Follow follow;
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

// Where the operands of a tile are at one block of k: packed, or the caller's own.
template <class T>
struct Panels {
  const T* data;
  int64_t panel_stride, lane_stride, k_stride;
};
template <class T>
constexpr Panels<T> packed_a(const T* first) {
  return {first, kPanelA<T>, 1, kPanelRows};
}
template <class T>
constexpr Panels<T> packed_b(const T* first) {
  return {first, kPanelB<T>, 1, kPanelCols<T>};
}

// One kernel call. The kernels want C's columns adjacent; other layouts pass through a buffer.
template <class T>
void multiply_panels(const Product<T>& x, const Panels<T>& a, const T* a_panel, const Panels<T>& b, const T* b_panel,
                     int64_t row, int64_t col, int64_t depth, bool add) {
  const int rows = static_cast<int>(std::min<int64_t>(kPanelRows, x.m - row));
  const int cols = static_cast<int>(std::min<int64_t>(kPanelCols<T>, x.n - col));
  T* c = x.c.at(row, col);
  KernelCall<T> call{depth, a_panel, a.lane_stride, a.k_stride, b_panel, b.k_stride, c, x.c.rs, add};
  if (x.c.cs == 1 || cols == 1) return run_kernel(rows, cols, call);

  alignas(kVectorBytes) T tile[kPanelRows * kPanelCols<T>];
  call.c = tile, call.c_rs = kPanelCols<T>, call.add = false;
  run_kernel(rows, cols, call);
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

// The tile at one block of k. a, b: start at the tile's first panel.
template <class T>
void multiply_tile(const Product<T>& x, const Tile& tile, const Panels<T>& a, const Panels<T>& b, int64_t depth,
                   bool add) {
  for (int64_t j = tile.b_begin; j < tile.b_end; ++j) {
    for (int64_t i = tile.a_begin; i < tile.a_end; ++i) {
      multiply_panels(x, a, a.data + (i - tile.a_begin) * a.panel_stride, b,
                      b.data + (j - tile.b_begin) * b.panel_stride, i * kPanelRows, j * kPanelCols<T>, depth, add);
    }
  }
}

template <class T>
void tile_finished(const Product<T>& x, const Tile& tile) {
  x.follow.finished(tile.a_begin * kPanelRows, std::min(x.m, tile.a_end * kPanelRows), tile.b_begin * kPanelCols<T>,
                    std::min(x.n, tile.b_end * kPanelCols<T>));
}

// How a product is cut into tiles; a function of its shape alone.
struct TileGrid {
  int64_t panels_a, panels_b, tile_a, tile_b, tiles_b, count;

  template <class T>
  static TileGrid of(const Product<T>& x) {
    const int64_t panels_a = ceil_div(x.m, kPanelRows), panels_b = ceil_div(x.n, kPanelCols<T>);
    int64_t tile_a = std::min(panels_a, kTilePanelsA), tile_b = std::min(panels_b, kTilePanelsB);
    const auto count = [&] { return ceil_div(panels_a, tile_a) * ceil_div(panels_b, tile_b); };
    if (x.m * x.n * x.k > kParallelWork) {
      // The side with more panels first: cutting a thin side would read or pack the long one again.
      int64_t& first = panels_a >= panels_b ? tile_a : tile_b;
      int64_t& second = panels_a >= panels_b ? tile_b : tile_a;
      while (count() < kTilesToShare && tile_a * tile_b > 1) {
        int64_t& cut = first > 1 ? first : second;
        cut = ceil_div(cut, 2);
      }
    }
    return {panels_a, panels_b, tile_a, tile_b, ceil_div(panels_b, tile_b), count()};
  }
  Tile tile(int64_t index) const {
    const int64_t a = index / tiles_b * tile_a, b = index % tiles_b * tile_b;
    return {a, std::min(panels_a, a + tile_a), b, std::min(panels_b, b + tile_b)};
  }
};

// What a product that is not shared packs: nothing that a tile reads only once or twice, or that fits in L1 as it is.
template <class T>
struct Alone {
  TileGrid grid;
  bool packs_a, packs_b;

  static Alone of(const Product<T>& x, const TileGrid& grid) {
    const auto bytes = [](int64_t count) { return count * static_cast<int64_t>(sizeof(T)); };
    const bool a_conflicts = x.m > 8 && x.a.rs != 1 && bytes(x.a.rs) % kConflictBytes == 0;
    const bool a_stays = grid.tile_b <= 2 || bytes(x.m * x.k) <= kDirectBytes;
    const bool b_stays = grid.tile_a <= 2 || bytes(x.n * x.k) <= kDirectBytes;
    return {grid, a_conflicts || !a_stays, !(x.b.cs == 1 && b_stays)};
  }
  int64_t scratch() const {
    return (packs_a ? grid.tile_a * kPanelA<T> : 0) + (packs_b ? grid.tile_b * kPanelB<T> : 0);
  }
};

// A tile that packs its own operands: right for small or thin matrices, where little is packed twice.
template <class T>
void multiply_alone(const Product<T>& x, const Alone<T>& how, const Tile& tile, T* scratch) {
  T* a = scratch;
  T* b = scratch + (how.packs_a ? how.grid.tile_a * kPanelA<T> : 0);
  for (int64_t p = 0; p < x.k; p += kGemmDepth) {
    const int64_t depth = std::min(kGemmDepth, x.k - p);
    Panels<T> from_a{x.a.at(tile.a_begin * kPanelRows, p), kPanelRows * x.a.rs, x.a.rs, x.a.cs};
    Panels<T> from_b{x.b.at(p, tile.b_begin * kPanelCols<T>), kPanelCols<T>, 1, x.b.rs};
    if (how.packs_a) {
      for (int64_t i = tile.a_begin; i < tile.a_end; ++i) pack_a(a + (i - tile.a_begin) * kPanelA<T>, x, i, p, depth);
      from_a = packed_a<T>(a);
    }
    if (how.packs_b) {
      for (int64_t j = tile.b_begin; j < tile.b_end; ++j) pack_b(b + (j - tile.b_begin) * kPanelB<T>, x, j, p, depth);
      from_b = packed_b<T>(b);
    }
    multiply_tile(x, tile, from_a, from_b, depth, x.accumulate || p > 0);
  }
  tile_finished(x, tile);
}

// Packs both operands once, all threads together, then multiplies tile by tile.
template <class T>
void multiply_packed(const Product<T>& x) {
  const TileGrid grid = TileGrid::of(x);
  const int64_t blocks = ceil_div(x.k, kGemmDepth);
  const Scratch<T> a(grid.panels_a * blocks * kPanelA<T>), b(grid.panels_b * blocks * kPanelB<T>);
  // Panels of one block of k lie together, A's before B's in the order of packing.
  const int64_t panels = grid.panels_a + grid.panels_b;
  const auto pack = [&](int64_t index) {
    const int64_t block = index / panels, panel = index % panels, panel_b = panel - grid.panels_a;
    const int64_t p = block * kGemmDepth, depth = std::min(kGemmDepth, x.k - p);
    if (panel_b < 0) {
      pack_a(a.data() + (block * grid.panels_a + panel) * kPanelA<T>, x, panel, p, depth);
    } else {
      pack_b(b.data() + (block * grid.panels_b + panel_b) * kPanelB<T>, x, panel_b, p, depth);
    }
  };
  parallel_tiles(ceil_div(blocks * panels, kPanelsPerTask), [&](int64_t task) {
    const int64_t end = std::min(blocks * panels, (task + 1) * kPanelsPerTask);
    for (int64_t index = task * kPanelsPerTask; index < end; ++index) pack(index);
  });
  parallel_tiles(grid.count, [&](int64_t index) {
    const Tile tile = grid.tile(index);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t depth = std::min(kGemmDepth, x.k - block * kGemmDepth);
      multiply_tile(x, tile, packed_a<T>(a.data() + (block * grid.panels_a + tile.a_begin) * kPanelA<T>),
                    packed_b<T>(b.data() + (block * grid.panels_b + tile.b_begin) * kPanelB<T>), depth,
                    x.accumulate || block > 0);
    }
    tile_finished(x, tile);
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
                            x.accumulate || p > 0, x.follow.from(row, col, p + kChunkDepth >= x.k)});
      }
    }
  }
}

template <class T>
Product<T> product_at(const GemmDesc& d, int64_t index, const GemmPostWork* post_work) {
  Product<T> x{d.m,
               d.n,
               d.k,
               {static_cast<const T*>(d.a) + index * d.a_bs, d.a_rs, d.a_cs},
               {static_cast<const T*>(d.b) + index * d.b_bs, d.b_rs, d.b_cs},
               {static_cast<T*>(d.c) + index * d.c_bs, d.c_rs, d.c_cs},
               d.accumulate,
               {post_work, index}};
  // C^T = B^T A^T gives the same bits; it puts adjacent elements of C, or the longer side of a vector, into lanes.
  if (x.n == 1 || (x.c.cs != 1 && x.c.rs == 1)) {
    return {x.n,
            x.m,
            x.k,
            x.b.transposed(),
            x.a.transposed(),
            x.c.transposed(),
            x.accumulate,
            {post_work, index, 0, 0, true}};
  }
  return x;
}

template <class T>
void write_zeros(const GemmDesc& d, const GemmPostWork* post_work) {
  for (int64_t index = 0; index < d.batch; ++index) {
    const Product<T> x = product_at<T>(d, index, post_work);
    for (int64_t i = 0; !d.accumulate && i < x.m; ++i) {
      for (int64_t j = 0; j < x.n; ++j) *x.c.at(i, j) = T(0);
    }
    x.follow.finished(0, x.m, 0, x.n);
  }
}

template <class T>
void gemm_of(const GemmDesc& d, const GemmPostWork* post_work) {
  if (d.k <= 0) return write_zeros<T>(d, post_work);
  const Product<T> first = product_at<T>(d, 0, post_work);
  const TileGrid grid = TileGrid::of(first);
  const bool is_thin = grid.panels_a <= 2 || grid.panels_b <= 2;
  if (!is_thin && d.m * d.n * d.k > kSharedWork) {
    for (int64_t index = 0; index < d.batch; ++index) multiply_large(product_at<T>(d, index, post_work));
    return;
  }

  const Alone<T> how = Alone<T>::of(first, grid);
  const int64_t tile_work = d.m * d.n * d.k / grid.count + 1;
  parallel_for(d.batch * grid.count, ceil_div(kParallelWork, tile_work), [&](int64_t begin, int64_t end) {
    const Scratch<T> space(how.scratch());
    for (int64_t index = begin; index < end; ++index) {
      multiply_alone(product_at<T>(d, index / grid.count, post_work), how, grid.tile(index % grid.count), space.data());
    }
  });
}

void run_gemm(const GemmDesc& desc, const GemmPostWork* post_work) {
  if (desc.m <= 0 || desc.n <= 0 || desc.batch <= 0) return;
  desc.type == GemmType::f32 ? gemm_of<float>(desc, post_work) : gemm_of<double>(desc, post_work);
}

}  // namespace

void gemm(const GemmDesc& desc) { run_gemm(desc, nullptr); }
void gemm(const GemmDesc& desc, GemmPostWork post_work) { run_gemm(desc, &post_work); }

}  // namespace fuselet::cpu
