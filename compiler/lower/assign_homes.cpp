#include "compiler/lower/assign_homes.h"

#include <algorithm>

namespace fuselet::lower {
namespace {

int64_t product(const std::vector<int64_t>& v) {
  int64_t p = 1;
  for (int64_t x : v) p *= x;
  return p;
}

// Cuts `extents` where the dimensions of `sizes`, of as many elements, end; leaves them alone where the cuts cross.
void refine(Extents& extents, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> cuts = {1};
  for (const std::vector<int64_t>* list : {static_cast<const std::vector<int64_t>*>(&extents), &sizes}) {
    int64_t inner = 1;
    for (size_t d = list->size(); d-- > 0;) cuts.push_back(inner *= (*list)[d]);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  Extents out;
  for (size_t i = cuts.size(); i-- > 1;) {
    if (cuts[i] % cuts[i - 1] != 0) return;
    out.push_back(cuts[i] / cuts[i - 1]);
  }
  extents = out;
}

// Each dimension of `sizes` as a run of consecutive dims out of `free` (in order); nothing where they do not line up.
std::optional<Coordinates> lay_over(const std::vector<int64_t>& sizes, const std::vector<size_t>& free,
                                    const Extents& extents) {
  Coordinates out;
  size_t next = 0;
  for (int64_t size : sizes) {
    Coordinate c = origin_of(extents.size());
    size_t end = next;
    int64_t covered = 1;
    if (size == 0 && end < free.size()) covered = extents[free[end++]];
    while (covered < size && end < free.size()) covered *= extents[free[end++]];
    if (covered != size) return std::nullopt;
    int64_t stride = 1;
    for (size_t k = end; k-- > next;) {
      c.strides[free[k]] = stride;
      stride *= extents[free[k]];
    }
    next = end;
    out.push_back(std::move(c));
  }
  return out;
}

// What a reader's operand says about the reader's own dimensions (the symbols): at these coordinates, in symbols, it
// reads an element whose home is known.
struct Bond {
  Coordinates in_symbols;
  const Coordinates* home;
};

class HomeFinder {
 public:
  HomeFinder(const GraphFacts& facts, const std::vector<int32_t>& nodes, const Extents& extents,
             const std::unordered_map<int32_t, Home>& homes)
      : facts_(facts), nodes_(nodes), extents_(extents), homes_(homes) {}

  Coordinates find(int32_t n) {
    const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
    symbols_ = domain_of(facts_.graph, node);
    Coordinates own;
    for (size_t d = 0; d < symbols_.size(); ++d) own.push_back(along(d, symbols_.size()));
    follow_operands(node, own);
    assigned_.assign(symbols_.size(), std::nullopt);
    for (const Bond& bond : bonds_) bind(bond);
    return fill();
  }

 private:
  // Looks through nodes without a home, up to those with one.
  void follow(ir::ValueId v, const Coordinates& at) {
    const ir::ValueId base = facts_.base[static_cast<size_t>(v)];
    const int32_t n = facts_.node_of(base);
    if (n < 0 || !std::binary_search(nodes_.begin(), nodes_.end(), n)) return;
    Coordinate address = address_of(facts_.meta(v), at);
    std::optional<Coordinates> inner = split(address, facts_.meta(base), symbols_);
    if (!inner) return;
    if (auto home = homes_.find(n); home != homes_.end()) {
      bonds_.push_back({*inner, &home->second.out});
      return;
    }
    const ir::Node& node = facts_.graph.nodes[static_cast<size_t>(n)];
    if (op_of(node.op).kind == OpKind::Pointwise) follow_operands(node, *inner);
  }

  void follow_operands(const ir::Node& node, const Coordinates& at) {
    const LoopRule* rule = loop_rule(facts_.graph, node);
    if (rule->element) return;
    for (const ir::GraphArg& arg : node.args) {
      if (bonds_.size() >= kEnoughBonds) return;
      if (auto* v = std::get_if<ir::ValueRef>(&arg)) follow(v->id, aligned(at, facts_.meta(v->id)));
    }
  }

  // A symbol of stride s and extent e covers the dims of the nest whose strides lie in [s, s * e).
  void bind(const Bond& bond) {
    for (size_t d = 0; d < bond.in_symbols.size(); ++d) {
      const Coordinate &in = bond.in_symbols[d], &home = (*bond.home)[d];
      for (size_t s = 0; s < symbols_.size(); ++s) {
        if (in.strides[s] == 0 || assigned_[s]) continue;
        Coordinate c = origin_of(extents_.size());
        int64_t covered = 1;
        for (size_t k = 0; k < extents_.size(); ++k) {
          const int64_t stride = home.strides[k];
          if (stride < in.strides[s] || stride >= in.strides[s] * symbols_[s] || stride % in.strides[s] != 0) continue;
          c.strides[k] = stride / in.strides[s];
          covered *= extents_[k];
        }
        if (covered == symbols_[s]) assigned_[s] = c;
      }
    }
  }

  Coordinates fill() {
    std::vector<bool> used(extents_.size(), false);
    std::vector<int64_t> rest;
    for (size_t s = 0; s < symbols_.size(); ++s) {
      if (symbols_[s] == 1) assigned_[s] = origin_of(extents_.size());
      if (!assigned_[s]) {
        rest.push_back(symbols_[s]);
        continue;
      }
      for (size_t k = 0; k < extents_.size(); ++k) {
        if (assigned_[s]->strides[k] != 0) used[k] = true;
      }
    }
    std::vector<size_t> free;
    for (size_t k = 0; k < extents_.size(); ++k) {
      if (!used[k]) free.push_back(k);
    }
    std::optional<Coordinates> laid = lay_over(rest, free, extents_);
    if (!laid) throw Refusal{"iterates over another shape"};
    Coordinates out;
    size_t next = 0;
    for (size_t s = 0; s < symbols_.size(); ++s) out.push_back(assigned_[s] ? *assigned_[s] : (*laid)[next++]);
    return out;
  }

  static constexpr size_t kEnoughBonds = 8;  // a few bind every dimension; a wide group has hundreds

  const GraphFacts& facts_;
  const std::vector<int32_t>& nodes_;
  const Extents& extents_;
  const std::unordered_map<int32_t, Home>& homes_;
  std::vector<int64_t> symbols_;
  std::vector<Bond> bonds_;
  std::vector<std::optional<Coordinate>> assigned_;
};

// The result's coordinates: what is iterated over, without the reduced dims.
Coordinates result_of(const GraphFacts& facts, const ir::Node& node, const Coordinates& domain) {
  const LoopRule* rule = loop_rule(facts.graph, node);
  if (!rule->reduces) return domain;
  const uint64_t reduced = reduced_mask(facts.graph, node);
  const bool keepdim = facts.meta(node.outputs[0]).sizes.size() == domain.size();
  Coordinates out;
  for (size_t d = 0; d < domain.size(); ++d) {
    if (!(reduced >> d & 1)) {
      out.push_back(domain[d]);
    } else if (keepdim) {
      out.push_back(origin_of(domain[d].strides.size()));
    }
  }
  return out;
}

}  // namespace

std::unordered_map<int32_t, Home> assign_homes(const GraphFacts& facts, const std::vector<int32_t>& nodes,
                                               const std::vector<int32_t>& anchors, Extents* extents) {
  int32_t root = anchors[0];
  int64_t most = -1;
  std::vector<std::vector<int64_t>> domains;
  for (int32_t n : anchors) {
    domains.push_back(domain_of(facts.graph, facts.graph.nodes[static_cast<size_t>(n)]));
    const int64_t elements = product(domains.back());
    if (elements > most) {
      most = elements;
      root = n;
      *extents = domains.back();
    }
  }
  const std::vector<int64_t> root_sizes = *extents;
  std::erase(*extents, 1);
  if (most > 0) {
    for (const std::vector<int64_t>& d : domains) {
      if (product(d) == most) refine(*extents, d);
    }
  }
  std::vector<size_t> all(extents->size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = k;

  std::unordered_map<int32_t, Home> homes;
  auto settle = [&](int32_t n, Coordinates domain) {
    Coordinates out = result_of(facts, facts.graph.nodes[static_cast<size_t>(n)], domain);
    homes[n] = {std::move(domain), std::move(out)};
  };
  std::optional<Coordinates> of_root = lay_over(root_sizes, all, *extents);
  if (!of_root) throw Refusal{"is empty in an unusual way"};
  settle(root, *of_root);
  // Readers of reductions come after them, so one walk in order finds every bond to a reduction.
  for (int32_t n : anchors) {
    if (n != root) settle(n, HomeFinder(facts, nodes, *extents, homes).find(n));
  }
  return homes;
}

}  // namespace fuselet::lower
