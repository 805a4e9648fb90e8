// What a stream holds: work that the host has submitted and that runs later.
//
// Nothing runs at submission (except with FUSELET_SIM_ORDER=eager). When the host waits, operations run one by one,
// chosen among those whose stream and events let them, until what it waits for is done. Time is virtual: each operation
// takes what its cost model says after what it depends on, so elapsed times are the same on every machine.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda_sim/order/hazards.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

struct Graph;
struct Capture;

struct Work {
  std::shared_ptr<const std::string> what;
  std::function<void()> run;     // null: it only marks a point
  double microseconds = 0;       // by the cost model
  std::shared_ptr<Graph> graph;  // then its nodes run instead
};

struct Operation {
  Work work;
  uint64_t sequence = 0;
  Place place;
  std::vector<std::shared_ptr<Operation>> after;  // beside the one before it in its stream
  bool done = false;
  double submitted = 0, start = 0, end = 0;  // virtual microseconds
};

struct Stream {
  uint32_t number = 0;
  uint32_t ticks = 0;
  Clock clock;
  std::deque<std::shared_ptr<Operation>> pending;
  std::shared_ptr<Operation> last;
  std::shared_ptr<Capture> capture;  // null: it is not capturing
  std::vector<int> frontier;         // the nodes that the next captured one depends on
};

struct Event {
  bool measures_time = true;
  std::shared_ptr<Operation> recorded;
  // The record was captured: its place in the graph, while the capture lasts.
  std::shared_ptr<Capture> capture;
  std::vector<int> frontier;
};

// Null is refused: the default stream synchronises with all others, which no caller here means.
Stream* stream_of(StreamHandle handle);
Event* event_of(EventHandle handle);
Stream* create_stream();
void destroy_stream(Stream* stream);
Event* create_event(bool measures_time);
void destroy_event(Event* event);

// Appends to the stream, or to the graph that it captures. `after`: what it waits for besides.
std::shared_ptr<Operation> submit(Stream& stream, Work work, std::vector<std::shared_ptr<Operation>> after = {});
// A node to the graph under capture; the Result says why not.
Result submit_or_capture(Stream& stream, Work work);

// Runs until it is done; then what happened before it is known to the host.
void wait_for(const std::shared_ptr<Operation>& operation);
void wait_for_all();
// Progress while the host polls: one operation runs, if any can.
void run_one();
bool anything_pending();
// The host has seen that it is done.
void host_saw(const Operation& operation);

}  // namespace fuselet::cuda::sim
