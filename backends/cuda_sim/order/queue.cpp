#include <algorithm>
#include <unordered_set>

#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/order/graph.h"
#include "backends/cuda_sim/order/operation.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

namespace {

struct Queue {
  std::vector<Stream*> streams;
  std::vector<uint32_t> free_numbers;
  std::vector<uint32_t> ticks;  // of streams that had the number before
  std::unordered_set<Event*> events;
  size_t pending = 0;
  Clock host;
  double host_time = 0;
};
Queue& queue() {
  static auto* instance = new Queue;
  return *instance;
}

// A host that never waits must not gather operations without end.
constexpr size_t kMostPending = 4096;

bool can_run(const Operation& operation) {
  return std::all_of(operation.after.begin(), operation.after.end(), [](const auto& op) { return op->done; });
}

Stream* choose() {
  std::vector<Stream*> ready;
  for (Stream* stream : queue().streams)
    if (!stream->pending.empty() && can_run(*stream->pending.front())) ready.push_back(stream);
  if (ready.empty()) return nullptr;
  auto older = [](const Stream* a, const Stream* b) {
    return a->pending.front()->sequence < b->pending.front()->sequence;
  };
  switch (settings().run_order) {
    case RunOrder::Newest:
      return *std::max_element(ready.begin(), ready.end(), older);
    case RunOrder::Random:
      return ready[next_random(settings().run_seed) % ready.size()];
    default:
      return *std::min_element(ready.begin(), ready.end(), older);
  }
}

void execute(Operation& operation) {
  const Work& work = operation.work;
  double cost = work.microseconds;
  // After a fault the device does nothing more.
  if (simulator().sticky == kSuccess) {
    if (work.graph) {
      cost = run_graph(*work.graph, operation);
    } else if (work.run) {
      begin_run(operation.place, operation.sequence, 0, work.what);
      work.run();
      end_run();
    }
  }
  operation.end = operation.start + cost;
}

}  // namespace

Stream* stream_of(StreamHandle handle) {
  auto* stream = reinterpret_cast<Stream*>(handle);
  return std::find(queue().streams.begin(), queue().streams.end(), stream) != queue().streams.end() ? stream : nullptr;
}

Event* event_of(EventHandle handle) {
  auto* event = reinterpret_cast<Event*>(handle);
  return queue().events.count(event) ? event : nullptr;
}

Stream* create_stream() {
  auto* stream = new Stream;
  if (queue().free_numbers.empty()) {
    stream->number = static_cast<uint32_t>(queue().ticks.size());
    queue().ticks.push_back(0);
  } else {
    stream->number = queue().free_numbers.back();
    queue().free_numbers.pop_back();
  }
  stream->ticks = queue().ticks[stream->number];
  queue().streams.push_back(stream);
  return stream;
}

void destroy_stream(Stream* stream) {
  // What is pending still runs, as on a device; here it does so now.
  if (stream->last) wait_for(stream->last);
  queue().ticks[stream->number] = stream->ticks;
  queue().free_numbers.push_back(stream->number);
  std::erase(queue().streams, stream);
  delete stream;
}

Event* create_event(bool measures_time) {
  auto* event = new Event{measures_time, nullptr, nullptr, {}};
  queue().events.insert(event);
  return event;
}

void destroy_event(Event* event) {
  queue().events.erase(event);
  delete event;
}

std::shared_ptr<Operation> submit(Stream& stream, Work work, std::vector<std::shared_ptr<Operation>> after) {
  auto operation = std::make_shared<Operation>();
  auto clock = std::make_shared<Clock>(stream.clock);
  clock->merge(queue().host);
  for (const auto& earlier : after) clock->merge(*earlier->place.clock);
  clock->set(stream.number, ++stream.ticks);
  stream.clock = *clock;
  operation->work = std::move(work);
  operation->sequence = next_sequence();
  operation->place.stream = stream.number;
  operation->place.tick = stream.ticks;
  operation->place.clock = std::move(clock);
  operation->after = std::move(after);
  if (stream.last) operation->after.push_back(stream.last);
  operation->submitted = queue().host_time;
  stream.last = operation;
  stream.pending.push_back(operation);
  ++queue().pending;
  if (settings().run_order == RunOrder::Eager) {
    while (queue().pending > 0) run_one();
  } else if (queue().pending > kMostPending) {
    while (queue().pending > kMostPending / 2) run_one();
  }
  return operation;
}

void run_one() {
  Stream* stream = choose();
  if (stream == nullptr) return;
  std::shared_ptr<Operation> operation = stream->pending.front();
  stream->pending.pop_front();
  --queue().pending;
  operation->start = operation->submitted;
  for (const auto& earlier : operation->after) operation->start = std::max(operation->start, earlier->end);
  execute(*operation);
  operation->done = true;
  // Neither the operations before it nor what its work holds live longer than needed.
  operation->after.clear();
  operation->work = {};
}

void wait_for(const std::shared_ptr<Operation>& operation) {
  while (!operation->done) run_one();
  host_saw(*operation);
}

void wait_for_all() {
  for (size_t i = 0; i < queue().streams.size(); ++i)
    if (queue().streams[i]->last) wait_for(queue().streams[i]->last);
}

bool anything_pending() { return queue().pending > 0; }

void host_saw(const Operation& operation) {
  queue().host.merge(*operation.place.clock);
  queue().host_time = std::max(queue().host_time, operation.end);
  if (anything_pending()) return;
  settle(queue().host);
  if (num_graphs() == 0) sweep_allocations();
}

}  // namespace fuselet::cuda::sim
