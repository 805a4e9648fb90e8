#include "autograd/grad_node.h"

#include <atomic>

#include "core/dispatch_state.h"

namespace fuselet {
namespace {

std::atomic<uint64_t> g_next_sequence{0};
thread_local std::vector<GradNode*>* t_dying = nullptr;

}  // namespace

GradNode::GradNode() : sequence(g_next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

// Nodes that die while another is being deleted wait in a list: a chain of 300,000 nodes must not recurse.
void GradNode::destroy() noexcept {
  if (t_dying) {
    t_dying->push_back(this);
    return;
  }
  std::vector<GradNode*> dying{this};
  t_dying = &dying;
  while (!dying.empty()) {
    GradNode* node = dying.back();
    dying.pop_back();
    delete node;
  }
  t_dying = nullptr;
}

void set_history(const Tensor& t, const GradNodePtr& node, uint32_t index) {
  AutogradMeta& a = t.impl()->make_autograd();
  a.grad_fn = node;
  a.output_index = index;
}

}  // namespace fuselet
