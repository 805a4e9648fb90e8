// Note [In-place on views]
// A view made while gradients are recorded remembers its base. Writing into the view changes the base, so the base gets
// a new place on the tape: a node that routes the written region's gradient to the writing operator and the rest to the
// base's old place. The base's generation counts such changes; a view (this one and every other) that is behind takes
// its place on the tape again, as a strided view of the base, when its gradient edge is next asked for.
#pragma once
#include "autograd/grad_node.h"

namespace fuselet {

// Called for a new view `out` of `self`, while grad mode is on.
void remember_base(const Tensor& self, const Tensor& out);
// Error if `target` is a leaf that requires grad, or a view of one.
void check_in_place(const Call& call, const Tensor& target);
// `node` (output `index`) has written `target`, a base or a view.
void rebase_history(const Tensor& target, const GradNodePtr& node, uint32_t index, const Edge& old_base_edge);
// The edge of the tensor whose history an in-place call on `target` will replace: of its base if it is a view.
Edge edge_to_replace(const Tensor& target);

}  // namespace fuselet
