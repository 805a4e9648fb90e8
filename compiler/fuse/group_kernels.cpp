#include "compiler/fuse/group_kernels.h"

#include <algorithm>

namespace fuselet::fuse {
namespace {

// Elements: less than what is worth a kernel of its own beside a larger neighbour.
constexpr int64_t kSmallNest = 1 << 14;
// A neighbour so much larger leaves the small one's data in cache.
constexpr int64_t kMuchLarger = 8;

int64_t elements_of(const kernel::Nest& nest) {
  int64_t n = 1;
  for (int64_t d : nest.dims) n *= d;
  return n;
}

struct Draft {
  FusedKernel kernel;
  int64_t elements;  // of its largest nest
};

class KernelGrouper {
 public:
  KernelGrouper(GroupGraph& graph, const std::vector<Group>& groups, const std::map<int32_t, int32_t>& index)
      : graph_(graph), groups_(groups) {
    for (const auto& [g, i] : index) drafts_[g] = {{-1, {{i}}}, elements_of(groups[static_cast<size_t>(i)].nest.nest)};
  }

  std::vector<FusedKernel> run() {
    join_side_by_side();
    while (join_neighbours()) {
    }
    join_side_by_side();
    std::vector<FusedKernel> out;
    for (auto& [g, draft] : drafts_) out.push_back(std::move(draft.kernel));
    return out;
  }

 private:
  const kernel::Nest& nest_of(int32_t group) const { return groups_[static_cast<size_t>(group)].nest.nest; }

  bool have_same_stages(const FusedKernel& a, const FusedKernel& b) const {
    if (a.stages.size() != b.stages.size()) return false;
    for (size_t s = 0; s < a.stages.size(); ++s) {
      for (int32_t i : {a.stages[s].front(), a.stages[s].back()}) {
        if (!have_one_form(nest_of(i), nest_of(b.stages[s].front()))) return false;
      }
    }
    return true;
  }

  void join_side_by_side() {
    for (auto a = drafts_.begin(); a != drafts_.end(); ++a) {
      for (auto b = std::next(a); b != drafts_.end();) {
        const bool join = have_same_stages(a->second.kernel, b->second.kernel) && !graph_.depends(a->first, b->first) &&
                          !graph_.depends(b->first, a->first);
        if (!join) {
          ++b;
          continue;
        }
        graph_.merge(a->first, b->first);
        for (size_t s = 0; s < a->second.kernel.stages.size(); ++s) {
          std::vector<int32_t>&to = a->second.kernel.stages[s], &from = b->second.kernel.stages[s];
          to.insert(to.end(), from.begin(), from.end());
        }
        a->second.elements = std::max(a->second.elements, b->second.elements);
        b = drafts_.erase(b);
      }
    }
  }

  bool join_neighbours() {
    for (auto a = drafts_.begin(); a != drafts_.end(); ++a) {
      for (auto b = drafts_.begin(); b != drafts_.end(); ++b) {
        if (a == b || !feeds(a->first, b->first)) continue;
        const int64_t low = std::min(a->second.elements, b->second.elements);
        const int64_t high = std::max(a->second.elements, b->second.elements);
        if ((low > kSmallNest && low * kMuchLarger > high) || graph_.is_separated(a->first, b->first)) continue;
        graph_.merge(a->first, b->first);
        std::vector<std::vector<int32_t>>&to = a->second.kernel.stages, &from = b->second.kernel.stages;
        to.insert(to.end(), from.begin(), from.end());
        a->second.elements = high;
        drafts_.erase(b);
        return true;
      }
    }
    return false;
  }

  // b reads what a stores.
  bool feeds(int32_t a, int32_t b) const {
    const std::vector<ir::ValueId> reads = graph_.reads(graph_.nodes(b));
    for (ir::ValueId v : graph_.stored(graph_.nodes(a))) {
      if (std::find(reads.begin(), reads.end(), v) != reads.end()) return true;
    }
    return false;
  }

  GroupGraph& graph_;
  const std::vector<Group>& groups_;
  std::map<int32_t, Draft> drafts_;
};

}  // namespace

bool have_one_form(const kernel::Nest& a, const kernel::Nest& b) {
  if (a.structure != b.structure || a.dims.size() != b.dims.size() || a.body.size() != b.body.size()) return false;
  for (size_t i = 0; i < a.body.size(); ++i) {
    const kernel::Statement &x = a.body[i], &y = b.body[i];
    if (x.kind != y.kind || x.dtype != y.dtype || x.args != y.args || x.varies != y.varies || x.op != y.op ||
        x.compute != y.compute || x.combine != y.combine || x.tree != y.tree || x.distribution != y.distribution ||
        x.threshold != y.threshold || x.number != y.number || x.integer != y.integer || !x.indices.empty() ||
        !y.indices.empty())
      return false;
  }
  return true;
}

std::vector<FusedKernel> group_kernels(GroupGraph& graph, const std::vector<Group>& groups,
                                       const std::map<int32_t, int32_t>& index) {
  return KernelGrouper(graph, groups, index).run();
}

}  // namespace fuselet::fuse
