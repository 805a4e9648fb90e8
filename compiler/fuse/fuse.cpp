#include "compiler/fuse/fuse.h"

#include <algorithm>
#include <map>

#include "compiler/fuse/group_graph.h"
#include "compiler/fuse/group_kernels.h"
#include "compiler/fuse/take_post_work.h"

namespace fuselet::fuse {
namespace {

// Formulas that a nest may calculate anew for every row although their value is the same in all of them; more are
// better stored once.
constexpr int kRepeatedFormulas = 3;

struct Candidate {
  int32_t a, b;
  int64_t bytes;
};

std::vector<int32_t> union_of(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::vector<int32_t> out;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

bool contains(const std::vector<ir::ValueId>& list, ir::ValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

class NodeFuser {
 public:
  explicit NodeFuser(const lower::GraphFacts& facts) : facts_(facts), groups_(facts) {}

  Fusion run(TakesPostWork takes_post_work) {
    Fusion out;
    for (int32_t g : groups_.live()) {
      if (groups_.is_call(g)) continue;
      for (ir::ValueId v : groups_.reads(groups_.nodes(g))) out.bytes_unfused += groups_.bytes_of(v);
      for (ir::ValueId v : groups_.stored(groups_.nodes(g))) out.bytes_unfused += groups_.bytes_of(v);
    }
    while (merge_some()) {
    }
    std::map<int32_t, int32_t> index;
    for (int32_t g : groups_.live()) {
      if (groups_.is_call(g)) {
        out.calls.push_back(g);
        continue;
      }
      index[g] = static_cast<int32_t>(out.groups.size());
      out.groups.push_back(finished(g));
      for (ir::ValueId v : out.groups.back().nest.buffers) out.bytes_fused += groups_.bytes_of(v);
    }
    for (const auto& [pair, refusal] : refused_) {
      const bool live = !groups_.nodes(pair.first).empty() && !groups_.nodes(pair.second).empty();
      if (live) out.refusals.push_back(refusal);
    }
    std::vector<FusedKernel> after_calls = take_post_work(groups_, facts_, takes_post_work, &out, &index);
    out.kernels = group_kernels(groups_, out.groups, index);
    out.kernels.insert(out.kernels.end(), after_calls.begin(), after_calls.end());
    return out;
  }

 private:
  Group finished(int32_t g) {
    Group group{groups_.nodes(g), groups_.stored(groups_.nodes(g)), {}};
    auto built = lower::build_nest(facts_, group.nodes, group.stored);
    if (auto* refusal = std::get_if<lower::Refusal>(&built)) {
      const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(g)];
      throw InternalError(concat("[fuse] ", op_of(node.op).name, " does not lower: ", refusal->reason), __FILE__,
                          __LINE__);
    }
    group.nest = std::move(std::get<lower::BuiltNest>(built));
    return group;
  }

  // Bytes that need not cross memory any more when a and b are one.
  int64_t saved_bytes(const std::vector<int32_t>& a, const std::vector<int32_t>& b) const {
    int64_t bytes = 0;
    const std::vector<ir::ValueId> reads_a = groups_.reads(a), reads_b = groups_.reads(b);
    const std::vector<int32_t> both = union_of(a, b);
    const std::vector<ir::ValueId> stored_both = groups_.stored(both);
    for (auto [made, read] : {std::pair{&a, &reads_b}, std::pair{&b, &reads_a}}) {
      for (ir::ValueId v : groups_.stored(*made)) {
        if (contains(*read, v)) bytes += groups_.bytes_of(v) * (contains(stored_both, v) ? 1 : 2);
      }
    }
    for (ir::ValueId v : reads_a) {
      if (contains(reads_b, v)) bytes += groups_.bytes_of(v);
    }
    return bytes;
  }

  std::vector<Candidate> candidates() const {
    std::map<ir::ValueId, std::vector<int32_t>> touching;  // groups that read or store each base
    for (int32_t g : groups_.live()) {
      if (groups_.is_call(g)) continue;
      for (ir::ValueId v : groups_.reads(groups_.nodes(g))) touching[v].push_back(g);
      for (ir::ValueId v : groups_.stored(groups_.nodes(g))) touching[v].push_back(g);
    }
    std::map<std::pair<int32_t, int32_t>, int64_t> pairs;
    for (const auto& [v, list] : touching) {
      for (size_t i = 0; i < list.size(); ++i) {
        for (size_t k = i + 1; k < list.size(); ++k) {
          auto pair = std::minmax(list[i], list[k]);
          if (pair.first != pair.second) pairs.emplace(pair, 0);
        }
      }
    }
    std::vector<Candidate> out;
    for (const auto& [pair, unused] : pairs) {
      if (refused_.contains(pair)) continue;
      out.push_back({pair.first, pair.second, saved_bytes(groups_.nodes(pair.first), groups_.nodes(pair.second))});
    }
    std::stable_sort(out.begin(), out.end(), [](const Candidate& x, const Candidate& y) { return x.bytes > y.bytes; });
    return out;
  }

  // Empty: they may merge.
  std::string reason_against(int32_t a, int32_t b) const {
    if (groups_.is_separated(a, b)) return "another kernel has to run between them";
    const std::vector<int32_t> both = union_of(groups_.nodes(a), groups_.nodes(b));
    auto built = lower::build_nest(facts_, both, groups_.stored(both));
    if (auto* refusal = std::get_if<lower::Refusal>(&built)) return refusal->reason;
    return repeats_too_much(std::get<lower::BuiltNest>(built).nest) ? "would be calculated anew for every row" : "";
  }

  static bool repeats_too_much(const kernel::Nest& nest) {
    const size_t last = nest.dims.size() - 1;
    uint32_t wide = 0;
    for (size_t d = 0; d < nest.dims.size(); ++d) wide |= (nest.dims[d] > 1 ? 1u : 0u) << d;
    int count = 0;
    for (const kernel::Statement& s : nest.body) {
      if (s.kind != kernel::Kind::Formula || !(s.varies >> last & 1)) continue;
      if ((s.varies & wide) != wide && nest.structure == kernel::Structure::Pointwise) ++count;
    }
    return count > kRepeatedFormulas;
  }

  bool merge_some() {
    bool merged = false;
    for (const Candidate& c : candidates()) {
      if (groups_.nodes(c.a).empty() || groups_.nodes(c.b).empty()) continue;
      const std::pair<int32_t, int32_t> pair{c.a, c.b};
      std::string reason = reason_against(c.a, c.b);
      if (!reason.empty()) {
        refused_[pair] = {c.a, c.b, c.bytes, std::move(reason)};
        continue;
      }
      groups_.merge(c.a, c.b);
      // What was refused may fit the larger group.
      std::erase_if(refused_, [&](const auto& entry) {
        return entry.first.first == c.a || entry.first.second == c.a || entry.first.first == c.b ||
               entry.first.second == c.b;
      });
      merged = true;
    }
    return merged;
  }

  const lower::GraphFacts& facts_;
  GroupGraph groups_;
  std::map<std::pair<int32_t, int32_t>, FusionRefusal> refused_;
};

}  // namespace

Fusion fuse(const lower::GraphFacts& facts, TakesPostWork takes_post_work) {
  return NodeFuser(facts).run(takes_post_work);
}

}  // namespace fuselet::fuse
