#include "compiler/report/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fuselet::report {
namespace {

// In SVG units, about pixels.
constexpr double kGapX = 18, kGapY = 34, kMargin = 20, kRouteWidth = 4;
constexpr int kOrderSweeps = 8, kPlaceSweeps = 8;

size_t at(int32_t i) { return static_cast<size_t>(i); }

class LayeredLayout {
 public:
  LayeredLayout(std::span<const BoxSize> boxes, std::span<const LayoutArrow> arrows) : boxes_(boxes), arrows_(arrows) {}

  Layout run() {
    assign_layers();
    add_points();
    order();
    place();
    return result();
  }

 private:
  void assign_layers() {
    layer_.assign(boxes_.size(), 0);
    std::vector<bool> pointed_at(boxes_.size(), false);
    std::vector<std::vector<int32_t>> targets(boxes_.size());
    for (const LayoutArrow& a : arrows_) {
      targets[at(a.from)].push_back(a.to);
      pointed_at[at(a.to)] = true;
    }
    for (size_t v = 0; v < boxes_.size(); ++v) {
      for (int32_t to : targets[v]) layer_[at(to)] = std::max(layer_[at(to)], layer_[v] + 1);
    }
    // A box that nothing points at stands right above its first reader.
    for (size_t v = 0; v < boxes_.size(); ++v) {
      if (pointed_at[v] || targets[v].empty()) continue;
      int32_t first = INT32_MAX;
      for (int32_t to : targets[v]) first = std::min(first, layer_[at(to)]);
      layer_[v] = first - 1;
    }
  }

  // A point in each layer that an arrow passes; boxes are the first vertices.
  void add_points() {
    chains_.resize(arrows_.size());
    neighbours_up_.resize(boxes_.size());
    neighbours_down_.resize(boxes_.size());
    for (size_t a = 0; a < arrows_.size(); ++a) {
      int32_t before = arrows_[a].from;
      for (int32_t l = layer_[at(before)] + 1; l <= layer_[at(arrows_[a].to)]; ++l) {
        int32_t here = arrows_[a].to;
        if (l < layer_[at(arrows_[a].to)]) {
          here = static_cast<int32_t>(layer_.size());
          layer_.push_back(l);
          neighbours_up_.emplace_back();
          neighbours_down_.emplace_back();
          chains_[a].push_back(here);
        }
        neighbours_down_[at(before)].push_back(here);
        neighbours_up_[at(here)].push_back(before);
        before = here;
      }
    }
    int32_t deepest = layer_.empty() ? -1 : *std::max_element(layer_.begin(), layer_.end());
    layers_.resize(at(deepest + 1));
    for (size_t v = 0; v < layer_.size(); ++v) layers_[at(layer_[v])].push_back(static_cast<int32_t>(v));
    x_.resize(layer_.size());
  }

  double width(int32_t v) const { return at(v) < boxes_.size() ? boxes_[at(v)].width : kRouteWidth; }

  double mean_of(const std::vector<int32_t>& neighbours, double otherwise) const {
    if (neighbours.empty()) return otherwise;
    double sum = 0;
    for (int32_t v : neighbours) sum += x_[at(v)];
    return sum / static_cast<double>(neighbours.size());
  }

  // While ordering, x is the place in the layer, scaled to its length.
  void number(const std::vector<int32_t>& layer) {
    for (size_t i = 0; i < layer.size(); ++i)
      x_[at(layer[i])] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
  }

  void order() {
    for (const auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        std::vector<int32_t>& layer = layers_[down ? k : layers_.size() - 1 - k];
        const auto& neighbours = down ? neighbours_up_ : neighbours_down_;
        std::vector<std::pair<double, int32_t>> keyed;
        for (int32_t v : layer) keyed.emplace_back(mean_of(neighbours[at(v)], x_[at(v)]), v);
        std::stable_sort(keyed.begin(), keyed.end(), [](auto& a, auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < keyed.size(); ++i) layer[i] = keyed[i].second;
        number(layer);
      }
    }
  }

  void place() {
    for (const auto& layer : layers_) {
      double x = 0;
      for (int32_t v : layer) {
        x_[at(v)] = x + width(v) / 2;
        x += width(v) + kGapX;
      }
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k)
        place_layer(layers_[down ? k : layers_.size() - 1 - k], down ? neighbours_up_ : neighbours_down_);
    }
  }

  // As near to the neighbours as the order allows: with the widths taken off, an isotonic regression, solved by pooling
  // what stands in the wrong order.
  void place_layer(const std::vector<int32_t>& layer, const std::vector<std::vector<int32_t>>& neighbours) {
    struct Pool {
      double sum, count;
      double mean() const { return sum / count; }
    };
    std::vector<double> offset(layer.size(), 0);
    std::vector<Pool> pools;
    std::vector<size_t> members;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) offset[i] = offset[i - 1] + (width(layer[i - 1]) + width(layer[i])) / 2 + kGapX;
      pools.push_back({mean_of(neighbours[at(layer[i])], x_[at(layer[i])]) - offset[i], 1});
      members.push_back(1);
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        Pool last = pools.back();
        size_t moved = members.back();
        pools.pop_back();
        members.pop_back();
        pools.back().sum += last.sum;
        pools.back().count += last.count;
        members.back() += moved;
      }
    }
    size_t i = 0;
    for (size_t p = 0; p < pools.size(); ++p) {
      for (size_t k = 0; k < members[p]; ++k, ++i) x_[at(layer[i])] = pools[p].mean() + offset[i];
    }
  }

  Layout result() const {
    Layout out;
    double left = 0, right = 0;
    for (size_t v = 0; v < x_.size(); ++v) {
      double half = width(static_cast<int32_t>(v)) / 2;
      left = v == 0 ? x_[v] - half : std::min(left, x_[v] - half);
      right = v == 0 ? x_[v] + half : std::max(right, x_[v] + half);
    }
    std::vector<double> y(layers_.size()), heights(layers_.size());
    double top = kMargin;
    for (size_t l = 0; l < layers_.size(); ++l) {
      double height = 0;
      for (int32_t v : layers_[l]) height = std::max(height, at(v) < boxes_.size() ? boxes_[at(v)].height : 0);
      y[l] = top + height / 2;
      heights[l] = height;
      top += height + kGapY;
    }
    out.size = {right - left + 2 * kMargin, std::max(top - kGapY + kMargin, 2 * kMargin)};
    auto point = [&](int32_t v) { return Point{x_[at(v)] - left + kMargin, y[at(layer_[at(v)])]}; };
    for (size_t v = 0; v < boxes_.size(); ++v) out.centers.push_back(point(static_cast<int32_t>(v)));
    for (size_t a = 0; a < arrows_.size(); ++a) {
      Point from = out.centers[at(arrows_[a].from)], to = out.centers[at(arrows_[a].to)];
      from.y += boxes_[at(arrows_[a].from)].height / 2;
      to.y -= boxes_[at(arrows_[a].to)].height / 2;
      std::vector<Point> route = {from};
      for (int32_t v : chains_[a]) {  // straight down between the boxes of a layer
        Point middle = point(v);
        double half = heights[at(layer_[at(v)])] / 2;
        route.push_back({middle.x, middle.y - half});
        route.push_back({middle.x, middle.y + half});
      }
      route.push_back(to);
      out.routes.push_back(without_straight_points(route));
    }
    return out;
  }

  static std::vector<Point> without_straight_points(const std::vector<Point>& route) {
    std::vector<Point> out;
    for (size_t i = 0; i < route.size(); ++i) {
      bool inside = i > 0 && i + 1 < route.size();
      bool straight = inside && std::abs(route[i].x - out.back().x) < 1 && std::abs(route[i].x - route[i + 1].x) < 1;
      if (!straight) out.push_back(route[i]);
    }
    return out;
  }

  std::span<const BoxSize> boxes_;
  std::span<const LayoutArrow> arrows_;
  std::vector<int32_t> layer_;  // of each vertex
  std::vector<std::vector<int32_t>> layers_, neighbours_up_, neighbours_down_;
  std::vector<std::vector<int32_t>> chains_;  // the points of each arrow
  std::vector<double> x_;
};

}  // namespace

Layout layered_layout(std::span<const BoxSize> boxes, std::span<const LayoutArrow> arrows) {
  return LayeredLayout(boxes, arrows).run();
}

}  // namespace fuselet::report
