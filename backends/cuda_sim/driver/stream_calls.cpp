// Streams and events.
#include "backends/cuda_sim/driver/fill_tables.h"
#include "backends/cuda_sim/order/graph.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

std::shared_ptr<const std::string> marker() {
  static const auto text = std::make_shared<const std::string>("event");
  return text;
}

Result stream_create(StreamHandle* stream, unsigned flags) {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (flags > kStreamNonBlocking) return kErrorInvalidValue;
  *stream = reinterpret_cast<StreamHandle>(create_stream());
  return kSuccess;
}

Result stream_destroy(StreamHandle handle) {
  Call call;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  if (Result refused = refuse_on_capturing(*stream)) return refused;
  destroy_stream(stream);
  return call.refused();
}

Result stream_synchronize(StreamHandle handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  if (Result refused = refuse_on_capturing(*stream)) return refused;
  if (stream->last) wait_for(stream->last);
  return simulator().sticky;
}

Result state_of(const std::shared_ptr<Operation>& operation) {
  if (operation && !operation->done) run_one();
  if (simulator().sticky) return simulator().sticky;
  if (operation && !operation->done) return kErrorNotReady;
  if (operation) host_saw(*operation);
  return kSuccess;
}

Result stream_query(StreamHandle handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  if (Result refused = refuse_on_capturing(*stream)) return refused;
  return state_of(stream->last);
}

Result stream_wait_event(StreamHandle stream_handle, EventHandle event_handle, unsigned) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(stream_handle);
  Event* event = event_of(event_handle);
  if (stream == nullptr || event == nullptr) return kErrorInvalidHandle;
  if (stream->capture || event->capture) return capture_wait(*stream, *event);
  if (event->recorded) submit(*stream, {marker(), nullptr, 0, nullptr}, {event->recorded});
  return kSuccess;
}

Result event_create(EventHandle* event, unsigned flags) {
  Call call;
  if (Result refused = call.refused()) return refused;
  *event = reinterpret_cast<EventHandle>(create_event((flags & kEventDisableTiming) == 0));
  return kSuccess;
}

Result event_destroy(EventHandle handle) {
  Call call;
  Event* event = event_of(handle);
  if (event == nullptr) return kErrorInvalidHandle;
  destroy_event(event);
  return call.refused();
}

Result event_record(EventHandle event_handle, StreamHandle stream_handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(stream_handle);
  Event* event = event_of(event_handle);
  if (stream == nullptr || event == nullptr) return kErrorInvalidHandle;
  if (stream->capture) return capture_record(*stream, *event);
  event->capture = nullptr;
  event->frontier.clear();
  event->recorded = submit(*stream, {marker(), nullptr, 0, nullptr});
  return kSuccess;
}

Result event_synchronize(EventHandle handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Event* event = event_of(handle);
  if (event == nullptr) return kErrorInvalidHandle;
  if (event->capture) return kErrorCapturedEvent;
  if (Result refused = refuse_during_capture()) return refused;
  if (event->recorded) wait_for(event->recorded);
  return simulator().sticky;
}

Result event_query(EventHandle handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Event* event = event_of(handle);
  if (event == nullptr) return kErrorInvalidHandle;
  if (event->capture) return kErrorCapturedEvent;
  if (Result refused = refuse_during_capture()) return refused;
  return state_of(event->recorded);
}

Result event_elapsed_time(float* milliseconds, EventHandle start_handle, EventHandle end_handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Event *start = event_of(start_handle), *end = event_of(end_handle);
  if (start == nullptr || end == nullptr || !start->measures_time || !end->measures_time || !start->recorded ||
      !end->recorded)
    return kErrorInvalidHandle;
  if (!start->recorded->done || !end->recorded->done) return kErrorNotReady;
  *milliseconds = static_cast<float>((end->recorded->end - start->recorded->end) * 1e-3);
  return kSuccess;
}

}  // namespace

void fill_stream_calls(DriverApi& api) {
  api.cuStreamCreate = stream_create;
  api.cuStreamDestroy = stream_destroy;
  api.cuStreamSynchronize = stream_synchronize;
  api.cuStreamQuery = stream_query;
  api.cuStreamWaitEvent = stream_wait_event;
  api.cuEventCreate = event_create;
  api.cuEventDestroy = event_destroy;
  api.cuEventRecord = event_record;
  api.cuEventSynchronize = event_synchronize;
  api.cuEventQuery = event_query;
  api.cuEventElapsedTime = event_elapsed_time;
}

}  // namespace fuselet::cuda::sim
