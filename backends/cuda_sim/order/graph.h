// Graphs of operations: captured from streams, launched as one operation.
//
// A launch runs the nodes in an order that their edges allow, chosen as FUSELET_SIM_ORDER says; edges alone tell which
// uses of memory are ordered, whatever streams the nodes were captured from.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "backends/cuda_sim/order/operation.h"

namespace fuselet::cuda::sim {

struct Node {
  Work work;
  std::vector<int> after;
  std::vector<bool> ancestors;  // by node; transitive
  uint64_t sequence = 0;        // of its capture: memory is seen as of then
};

struct Graph {
  std::vector<Node> nodes;  // every node after those it depends on
  uint64_t captured_until = 0;
  Graph();
  ~Graph();
  int add(Work work, const std::vector<int>& after);
};
// How many exist: they keep memory's past alive.
int num_graphs();

// Runs the nodes; the longest path in virtual microseconds.
double run_graph(const Graph& graph, const Operation& launch);

struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  int mode = kCaptureModeGlobal;
  std::thread::id thread;
  Stream* origin = nullptr;
  std::vector<Stream*> streams;
  bool is_invalid = false;
};

// Errors that simulate the documented rules of capture, beyond those of driver_api.h.
inline constexpr Result kErrorIllegalState = 401;
inline constexpr Result kErrorStreamCaptureMerge = 902;
inline constexpr Result kErrorStreamCaptureUnmatched = 903;
inline constexpr Result kErrorStreamCaptureIsolation = 905;
inline constexpr Result kErrorCapturedEvent = 907;
inline constexpr Result kErrorStreamCaptureWrongThread = 908;

Result begin_capture(Stream& stream, int mode);
Result end_capture(Stream& stream, std::shared_ptr<Graph>& graph);
// Record and wait of a stream that captures, or of an event that was recorded in a capture.
Result capture_record(Stream& stream, Event& event);
Result capture_wait(Stream& stream, Event& event);
// A call that may not be made while a stream captures (allocation, for one): 900, and the capture is invalid.
Result refuse_during_capture();
// The same for waiting on the capturing stream itself, or on the whole device, in any mode.
Result refuse_on_capturing(Stream& stream);
Result refuse_during_any_capture();
bool capturing_here();

}  // namespace fuselet::cuda::sim
