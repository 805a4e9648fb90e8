// The joint graph: a recorded forward and its backward in one graph, before anybody calls backward().
//
// make_joint records the backward of `outputs` behind the forward in the same recording, with a tangent input for each
// output that requires grad, and takes the graph out of the recorder. Its outputs are `outputs` in their order, then
// the gradients; writes into inputs are listed as in any recording. The partitioner takes it (partition/partition.h).
//
//   %2 = mul(%x, %w); output %2
//     -> input %t: tangent; %2 = mul(%x, %w); %3 = mul(%t, %x); output %2; output %3      (gradient of w)
//
// Entry: the function has run and its outputs are values of the recording (or tensors from outside); nothing has been
// put into graph().outputs. It has not called backward() itself: then its recording is a whole step already, and no
// joint graph. The tape ends at tensors that existed before the recording: what lies behind them is the caller's, and
// their hooks run when the caller's own backward reaches them. No other thread walks that tape meanwhile.
#pragma once
#include <span>
#include <vector>

#include "autograd/grad_node.h"
#include "compiler/trace/recorder.h"

namespace fuselet {

// A gradient that the backward gives.
struct JointGradient {
  Edge edge;           // where it goes: a leaf, or a tape node that is older than the recording
  int32_t input = -1;  // of the graph: the one that carries this history, or in whose memory the leaf lies; -1: none
};

struct JointGraph {
  ir::Graph graph;
  size_t num_forward_outputs = 0;
  std::vector<int32_t> tangents;         // for each tangent input in order, the output that it belongs to
  std::vector<JointGradient> gradients;  // for each output of the graph behind the forward's
};

// Without an output that requires grad there are neither tangents nor gradients.
JointGraph make_joint(trace::Recorder& recorder, std::span<const Tensor> outputs);

}  // namespace fuselet
