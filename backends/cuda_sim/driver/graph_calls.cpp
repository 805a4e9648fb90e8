// Capture and graphs.
#include <unordered_map>

#include "backends/cuda_sim/driver/fill_tables.h"
#include "backends/cuda_sim/order/costs.h"
#include "backends/cuda_sim/order/graph.h"

namespace fuselet::cuda::sim {

namespace {

// A handle of a graph, or of an executable one, is the address of the pointer that keeps it.
using Handle = std::shared_ptr<Graph>;

template <class Tag>
std::unordered_map<Tag, std::unique_ptr<Handle>>& handles() {
  static auto* map = new std::unordered_map<Tag, std::unique_ptr<Handle>>;
  return *map;
}

template <class Tag>
Tag new_handle(Handle graph) {
  auto owner = std::make_unique<Handle>(std::move(graph));
  auto tag = reinterpret_cast<Tag>(owner.get());
  handles<Tag>()[tag] = std::move(owner);
  return tag;
}

Result stream_begin_capture(StreamHandle handle, int mode) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(handle);
  return stream ? begin_capture(*stream, mode) : kErrorInvalidHandle;
}

Result stream_end_capture(StreamHandle handle, GraphHandle* graph) {
  Call call;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  *graph = nullptr;
  Handle captured;
  if (Result result = end_capture(*stream, captured)) return result;
  *graph = new_handle<GraphHandle>(std::move(captured));
  return call.refused();
}

Result stream_is_capturing(StreamHandle handle, int* status) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  *status = !stream->capture              ? kCaptureStatusNone
            : stream->capture->is_invalid ? kCaptureStatusInvalidated
                                          : kCaptureStatusActive;
  return kSuccess;
}

Result graph_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  Call call;
  if (Result refused = call.refused()) return refused;
  auto found = handles<GraphHandle>().find(graph);
  if (found == handles<GraphHandle>().end()) return kErrorInvalidValue;
  *exec = new_handle<GraphExecHandle>(*found->second);
  return kSuccess;
}

Result graph_launch(GraphExecHandle exec, StreamHandle stream_handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(stream_handle);
  auto found = handles<GraphExecHandle>().find(exec);
  if (stream == nullptr || found == handles<GraphExecHandle>().end()) return kErrorInvalidHandle;
  static const auto what = std::make_shared<const std::string>("graph");
  return submit_or_capture(*stream, {what, nullptr, kOperationMicroseconds, *found->second});
}

// A launch that is pending keeps its graph.
template <class Tag>
Result destroy(Tag handle) {
  Call call;
  return handles<Tag>().erase(handle) == 1 ? call.refused() : kErrorInvalidValue;
}

}  // namespace

void fill_graph_calls(DriverApi& api) {
  api.cuStreamBeginCapture = stream_begin_capture;
  api.cuStreamEndCapture = stream_end_capture;
  api.cuStreamIsCapturing = stream_is_capturing;
  api.cuGraphInstantiateWithFlags = graph_instantiate;
  api.cuGraphLaunch = graph_launch;
  api.cuGraphExecDestroy = destroy<GraphExecHandle>;
  api.cuGraphDestroy = destroy<GraphHandle>;
}

}  // namespace fuselet::cuda::sim
