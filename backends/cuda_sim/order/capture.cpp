#include <algorithm>

#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/order/graph.h"

namespace fuselet::cuda::sim {

namespace {

std::vector<std::shared_ptr<Capture>>& captures() {
  static auto* list = new std::vector<std::shared_ptr<Capture>>;
  return *list;
}

void add_to(std::vector<int>& frontier, const std::vector<int>& more) {
  for (int node : more)
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) frontier.push_back(node);
}

bool is_joined(const Capture& capture, const Stream& stream) {
  const Graph& graph = *capture.graph;
  const auto& origin = capture.origin->frontier;
  return std::all_of(stream.frontier.begin(), stream.frontier.end(), [&](int node) {
    return std::any_of(origin.begin(), origin.end(), [&](int last) {
      return last == node ||
             (node < static_cast<int>(graph.nodes[last].ancestors.size()) && graph.nodes[last].ancestors[node]);
    });
  });
}

void finish(const std::shared_ptr<Capture>& capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->frontier.clear();
  }
  std::erase(captures(), capture);
}

bool is_over(const std::shared_ptr<Capture>& capture) {
  return std::find(captures().begin(), captures().end(), capture) == captures().end();
}

}  // namespace

Result begin_capture(Stream& stream, int mode) {
  if (mode < kCaptureModeGlobal || mode > kCaptureModeRelaxed) return kErrorInvalidValue;
  if (stream.capture) return kErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->streams = {&stream};
  stream.capture = capture;
  stream.frontier.clear();
  captures().push_back(capture);
  return kSuccess;
}

Result end_capture(Stream& stream, std::shared_ptr<Graph>& graph) {
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture) return kErrorIllegalState;
  if (capture->origin != &stream) return kErrorStreamCaptureUnmatched;
  if (capture->mode != kCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return kErrorStreamCaptureWrongThread;
  Result result = capture->is_invalid ? kErrorStreamCaptureInvalidated : kSuccess;
  for (Stream* other : capture->streams)
    if (result == kSuccess && !is_joined(*capture, *other)) result = kErrorStreamCaptureUnjoined;
  finish(capture);
  if (result != kSuccess) return result;
  graph = capture->graph;
  graph->captured_until = last_sequence();
  return kSuccess;
}

Result capture_record(Stream& stream, Event& event) {
  if (stream.capture->is_invalid) return kErrorStreamCaptureInvalidated;
  event.recorded = nullptr;
  event.capture = stream.capture;
  event.frontier = stream.frontier;
  return kSuccess;
}

Result capture_wait(Stream& stream, Event& event) {
  if (!event.capture) {
    // What was recorded outside of the capture cannot be an edge of it.
    if (!event.recorded) return kSuccess;
    stream.capture->is_invalid = true;
    return kErrorStreamCaptureIsolation;
  }
  if (is_over(event.capture)) return stream.capture ? kErrorStreamCaptureIsolation : kErrorCapturedEvent;
  if (event.capture->is_invalid) return kErrorStreamCaptureInvalidated;
  if (stream.capture && stream.capture != event.capture) {
    stream.capture->is_invalid = event.capture->is_invalid = true;
    return kErrorStreamCaptureMerge;
  }
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.capture->streams.push_back(&stream);
  }
  add_to(stream.frontier, event.frontier);
  return kSuccess;
}

Result submit_or_capture(Stream& stream, Work work) {
  if (!stream.capture) {
    submit(stream, std::move(work));
    return kSuccess;
  }
  if (stream.capture->is_invalid) return kErrorStreamCaptureInvalidated;
  Graph& graph = *stream.capture->graph;
  if (work.graph) {
    // The nodes of a launched graph become nodes of this one.
    int first = static_cast<int>(graph.nodes.size());
    std::vector<bool> is_last(work.graph->nodes.size(), true);
    for (const Node& node : work.graph->nodes) {
      std::vector<int> after = node.after.empty() ? stream.frontier : std::vector<int>{};
      for (int before : node.after) {
        after.push_back(first + before);
        is_last[before] = false;
      }
      graph.add(node.work, after);
    }
    if (!is_last.empty()) stream.frontier.clear();
    for (size_t i = 0; i < is_last.size(); ++i)
      if (is_last[i]) stream.frontier.push_back(first + static_cast<int>(i));
    return kSuccess;
  }
  stream.frontier = {graph.add(std::move(work), stream.frontier)};
  return kSuccess;
}

Result refuse_during_capture() {
  Result result = kSuccess;
  for (const auto& capture : captures()) {
    bool concerns = capture->mode == kCaptureModeGlobal ||
                    (capture->mode == kCaptureModeThreadLocal && capture->thread == std::this_thread::get_id());
    if (!concerns) continue;
    capture->is_invalid = true;
    result = kErrorStreamCaptureUnsupported;
  }
  return result;
}

Result refuse_on_capturing(Stream& stream) {
  if (!stream.capture) return kSuccess;
  stream.capture->is_invalid = true;
  return kErrorStreamCaptureUnsupported;
}

Result refuse_during_any_capture() {
  for (const auto& capture : captures()) capture->is_invalid = true;
  return captures().empty() ? kSuccess : kErrorStreamCaptureUnsupported;
}

bool capturing_here() {
  return std::any_of(captures().begin(), captures().end(), [](const auto& capture) {
    return capture->mode == kCaptureModeGlobal || capture->thread == std::this_thread::get_id();
  });
}

}  // namespace fuselet::cuda::sim
