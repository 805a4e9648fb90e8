// Streams, events and graphs: what is late, what is ordered, what capture forbids.
#include <thread>

#include "tests/backends/cuda_sim/sim_device.h"

using namespace fuselet::cuda;
using namespace fuselet::cuda::sim_test;

namespace {

const char* const kSource = R"cuda(
extern "C" __global__ void add(const int* x, int* y, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + by;
}
)cuda";

FunctionHandle add() { return kernel("order.cu", kSource, "add"); }

constexpr int kCount = 40;
Result launch_add(StreamHandle on, DevicePtr x, DevicePtr y, int by) {
  return launch(add(), {2, 32}, on, x, y, by, kCount);
}
std::vector<int> filled(int value) { return std::vector<int>(kCount, value); }

EventHandle new_event(unsigned flags = kEventDisableTiming) {
  EventHandle event = nullptr;
  REQUIRE(api().cuEventCreate(&event, flags) == kSuccess);
  return event;
}
void order(StreamHandle before, StreamHandle after) {
  EventHandle event = new_event();
  CHECK(api().cuEventRecord(event, before) == kSuccess);
  CHECK(api().cuStreamWaitEvent(after, event, 0) == kSuccess);
  CHECK(api().cuEventDestroy(event) == kSuccess);
}

bool all_hazards(const std::vector<std::string>& reports) {
  for (const std::string& report : reports)
    if (report.find("hazard: ") != 0) return false;
  return !reports.empty();
}

// Two kernels on two streams; the second reads what the first writes.
struct Chain {
  StreamHandle first = new_stream(), second = new_stream();
  Buffer x{filled(1)}, y{filled(0)}, z{filled(0)};
  void run(bool with_event) {
    CHECK(launch_add(first, x.at(), y.at(), 10) == kSuccess);
    if (with_event) order(first, second);
    CHECK(launch_add(second, y.at(), z.at(), 100) == kSuccess);
    api().cuStreamSynchronize(second);
    api().cuStreamSynchronize(first);
  }
  ~Chain() {
    api().cuStreamDestroy(first);
    api().cuStreamDestroy(second);
  }
};

const char* const kOrders[] = {"eager", "oldest", "newest", "random:3"};

GraphExecHandle end_capture(StreamHandle on) {
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  REQUIRE(api().cuStreamEndCapture(on, &graph) == kSuccess);
  REQUIRE(api().cuGraphInstantiateWithFlags(&exec, graph, 0) == kSuccess);
  REQUIRE(api().cuGraphDestroy(graph) == kSuccess);
  return exec;
}

}  // namespace

TEST_CASE("cuda_sim: an event orders two streams, in every order of execution") {
  begin();
  for (const char* text : kOrders) {
    set_order(text);
    Chain chain;
    chain.run(true);
    CHECK(chain.z.read<int>(kCount) == filled(111));
    CHECK(take_reports().empty());
  }
  set_order("oldest");
}

TEST_CASE("cuda_sim: a missing event is reported in every order, and the newest first shows it") {
  begin();
  for (const char* text : kOrders) {
    CAPTURE(std::string(text));
    set_order(text);
    Chain chain;
    chain.run(false);
    CHECK(api().cuCtxSynchronize() == kErrorLaunchFailed);
    std::vector<std::string> reports = take_reports();
    CHECK(all_hazards(reports));
    if (!reports.empty()) CHECK(reports[0].find("kernel add") != std::string::npos);
    if (text == std::string("oldest")) CHECK(chain.z.read<int>(kCount) == filled(111));
    if (text == std::string("newest")) CHECK(chain.z.read<int>(kCount) == filled(100));
  }
  set_order("oldest");
}

TEST_CASE("cuda_sim: waiting on the host orders what is submitted later") {
  begin();
  set_order("newest");
  Chain chain;
  CHECK(launch_add(chain.first, chain.x.at(), chain.y.at(), 10) == kSuccess);
  CHECK(api().cuStreamSynchronize(chain.first) == kSuccess);
  CHECK(launch_add(chain.second, chain.y.at(), chain.z.at(), 100) == kSuccess);
  CHECK(api().cuStreamSynchronize(chain.second) == kSuccess);
  // Two readers need no order; nor do parts of a block that do not overlap.
  CHECK(launch_add(chain.first, chain.x.at(), chain.y.at(), 1) == kSuccess);
  CHECK(launch_add(chain.second, chain.x.at(), chain.z.at(), 2) == kSuccess);
  CHECK(api().cuCtxSynchronize() == kSuccess);
  CHECK(api().cuMemsetD32Async(chain.y.at(), 0, 8, chain.first) == kSuccess);
  CHECK(api().cuMemsetD32Async(chain.y.at(32), 0, 8, chain.second) == kSuccess);
  CHECK(api().cuCtxSynchronize() == kSuccess);
  CHECK(take_reports().empty());
  set_order("oldest");
}

TEST_CASE("cuda_sim: memory that an allocator reuses on another stream needs an event") {
  begin();
  Buffer segment(4096), x(filled(1));
  StreamHandle first = new_stream(), second = new_stream();
  for (bool with_event : {true, false}) {
    api().sim.announce_block(segment.at(), kCount * 4);
    CHECK(launch_add(first, x.at(), segment.at(), 1) == kSuccess);
    api().sim.retire_block(segment.at());
    if (with_event) order(first, second);
    api().sim.announce_block(segment.at(), kCount * 4);
    CHECK(launch_add(second, x.at(), segment.at(), 2) == kSuccess);
    CHECK(api().cuCtxSynchronize() == (with_event ? kSuccess : kErrorLaunchFailed));
    CHECK(take_reports().empty() == with_event);
    api().sim.retire_block(segment.at());
    take_reports();
  }
  CHECK(api().cuStreamDestroy(first) == kSuccess);
  CHECK(api().cuStreamDestroy(second) == kSuccess);
}

TEST_CASE("cuda_sim: copies from pinned memory read it when they run, pageable ones at the call") {
  begin();
  Buffer x(filled(0));
  void* memory;
  CHECK(api().cuMemHostAlloc(&memory, kCount * 4, 0) == kSuccess);
  int* pinned = static_cast<int*>(memory);
  std::vector<int> pageable = filled(5);
  std::fill_n(pinned, kCount, 5);
  CHECK(api().cuMemcpyHtoDAsync(x.at(), pinned, kCount * 4, stream()) == kSuccess);
  std::fill_n(pinned, kCount, 6);  // too early
  CHECK(x.read<int>(kCount) == filled(6));
  CHECK(api().cuMemcpyHtoDAsync(x.at(), pageable.data(), kCount * 4, stream()) == kSuccess);
  std::fill(pageable.begin(), pageable.end(), 6);
  CHECK(x.read<int>(kCount) == filled(5));
  // The way back: pinned memory has it after the stream, not before.
  CHECK(api().cuMemcpyDtoHAsync(pinned, x.at(), kCount * 4, stream()) == kSuccess);
  CHECK(pinned[0] == 6);
  CHECK(api().cuStreamSynchronize(stream()) == kSuccess);
  CHECK(pinned[0] == 5);
  CHECK(api().cuMemFreeHost(memory) == kSuccess);
  CHECK(api().cuMemFreeHost(memory) == kErrorInvalidValue);
}

TEST_CASE("cuda_sim: queries make progress, and time is virtual") {
  begin();
  Buffer x(filled(1)), y(filled(0));
  EventHandle start = new_event(kEventDefault), end = new_event(kEventDefault), untimed = new_event();
  CHECK(api().cuEventQuery(start) == kSuccess);  // never recorded
  CHECK(api().cuEventRecord(start, stream()) == kSuccess);
  for (int i = 0; i < 5; ++i) CHECK(launch_add(stream(), x.at(), y.at(), i) == kSuccess);
  CHECK(api().cuEventRecord(end, stream()) == kSuccess);
  float first = 0, second = 0;
  CHECK(api().cuEventElapsedTime(&first, start, end) == kErrorNotReady);
  int polls = 0;
  while (api().cuEventQuery(end) == kErrorNotReady) ++polls;
  CHECK(polls == 6);
  CHECK(api().cuEventElapsedTime(&first, start, end) == kSuccess);
  CHECK(first == doctest::Approx(0.01).epsilon(0.1));  // five operations of 2 us
  CHECK(api().cuEventElapsedTime(&second, start, untimed) == kErrorInvalidHandle);
  CHECK(api().cuStreamQuery(stream()) == kSuccess);
  for (EventHandle event : {start, end, untimed}) CHECK(api().cuEventDestroy(event) == kSuccess);
  CHECK(api().cuEventDestroy(start) == kErrorInvalidHandle);
}

TEST_CASE("cuda_sim: native operations and host functions are operations of their stream") {
  begin();
  Buffer x(filled(1)), y(kCount * 4), z(kCount * 4);
  struct Task {
    DevicePtr from, to;
    int runs = 0, destroyed = 0;
  } task{x.at(), y.at()};
  auto run = [](void* argument) {
    auto* t = static_cast<Task*>(argument);
    for (int i = 0; i < kCount; ++i) reinterpret_cast<int*>(t->to)[i] = reinterpret_cast<int*>(t->from)[i] * 7;
    ++t->runs;
  };
  auto destroy = [](void* argument) { ++static_cast<Task*>(argument)->destroyed; };
  DeviceRange ranges[] = {{x.at(), kCount * 4, false}, {y.at(), kCount * 4, true}};
  CHECK(api().is_simulated());
  CHECK(api().sim.launch_native(stream(), "times seven", run, &task, destroy, ranges, 2) == kSuccess);
  CHECK(task.runs == 0);
  CHECK(launch_add(stream(), y.at(), z.at(), 1) == kSuccess);  // y is initialised by then
  CHECK(z.read<int>(kCount) == filled(8));
  CHECK(task.runs == 1);
  CHECK(task.destroyed == 1);
  int calls = 0;
  auto count = [](void* argument) { ++*static_cast<int*>(argument); };
  CHECK(api().cuLaunchHostFunc(stream(), count, &calls) == kSuccess);
  CHECK(calls == 0);
  CHECK(finish() == kSuccess);
  CHECK(calls == 1);
  // Without order to a kernel on another stream it is a hazard.
  StreamHandle other = new_stream();
  CHECK(api().sim.launch_native(other, "times seven", run, &task, destroy, ranges, 2) == kSuccess);
  CHECK(launch_add(stream(), y.at(), z.at(), 1) == kSuccess);
  CHECK(api().cuCtxSynchronize() == kErrorLaunchFailed);
  CHECK(all_hazards(take_reports()));
  CHECK(api().cuStreamDestroy(other) == kSuccess);
}

TEST_CASE("cuda_sim: a captured graph replays, over two streams") {
  begin();
  Buffer x(filled(1)), y(filled(0)), z(filled(0)), w(filled(0));
  StreamHandle side = new_stream();
  for (const char* text : kOrders) {
    set_order(text);
    CHECK(api().cuStreamBeginCapture(stream(), kCaptureModeThreadLocal) == kSuccess);
    order(stream(), side);  // forks
    CHECK(launch_add(stream(), x.at(), y.at(), 1) == kSuccess);
    CHECK(launch_add(side, x.at(), z.at(), 2) == kSuccess);
    int status = 0;
    CHECK(api().cuStreamIsCapturing(side, &status) == kSuccess);
    CHECK(status == kCaptureStatusActive);
    order(side, stream());  // joins
    CHECK(launch_add(stream(), z.at(), w.at(), 10) == kSuccess);
    GraphExecHandle exec = end_capture(stream());
    CHECK(api().cuStreamIsCapturing(side, &status) == kSuccess);
    CHECK(status == kCaptureStatusNone);
    x.write(filled(5));
    for (int i = 0; i < 3; ++i) CHECK(api().cuGraphLaunch(exec, stream()) == kSuccess);
    CHECK(api().cuGraphExecDestroy(exec) == kSuccess);  // launches in flight keep it
    CHECK(w.read<int>(kCount) == filled(17));
    CHECK(y.read<int>(kCount) == filled(6));
    CHECK(finish() == kSuccess);
    CHECK(take_reports().empty());
    x.write(filled(1));
  }
  set_order("oldest");
  CHECK(api().cuStreamDestroy(side) == kSuccess);
}

TEST_CASE("cuda_sim: within a graph the edges alone order") {
  begin();
  Buffer x(filled(1)), y(filled(0)), z(filled(0));
  StreamHandle side = new_stream();
  CHECK(api().cuStreamBeginCapture(stream(), kCaptureModeRelaxed) == kSuccess);
  order(stream(), side);
  CHECK(launch_add(stream(), x.at(), y.at(), 1) == kSuccess);
  CHECK(launch_add(side, y.at(), z.at(), 2) == kSuccess);  // no edge from the kernel before
  order(side, stream());
  GraphExecHandle exec = end_capture(stream());
  CHECK(api().cuGraphLaunch(exec, stream()) == kSuccess);
  CHECK(finish() == kErrorLaunchFailed);
  CHECK(all_hazards(take_reports()));
  CHECK(api().cuGraphExecDestroy(exec) == kSuccess);
  CHECK(api().cuStreamDestroy(side) == kSuccess);
}

TEST_CASE("cuda_sim: a graph's memory is that of its capture") {
  begin();
  Buffer segment(1 << 16), x(filled(1)), y(filled(0));
  auto block = [&](int i) { return segment.at(512 * i); };
  // A temporary of the capture is given back in it, and stays the graph's.
  CHECK(api().cuStreamBeginCapture(stream(), kCaptureModeThreadLocal) == kSuccess);
  api().sim.announce_block(block(0), kCount * 4);
  CHECK(launch_add(stream(), x.at(), block(0), 1) == kSuccess);
  CHECK(launch_add(stream(), block(0), y.at(), 1) == kSuccess);
  api().sim.retire_block(block(0));
  api().sim.announce_block(block(0), 100);  // smaller, for something else
  CHECK(api().cuMemsetD8Async(block(0), 0, 100, stream()) == kSuccess);
  api().sim.retire_block(block(0));
  GraphExecHandle exec = end_capture(stream());
  for (int i = 0; i < 2; ++i) CHECK(api().cuGraphLaunch(exec, stream()) == kSuccess);
  CHECK(y.read<int>(kCount) == filled(3));
  CHECK(finish() == kSuccess);
  CHECK(take_reports().empty());
  // Given to somebody else after the capture: a replay would overwrite it.
  api().sim.announce_block(block(0), 64);
  CHECK(api().cuGraphLaunch(exec, stream()) == kSuccess);
  CHECK(finish() == kErrorIllegalAddress);
  std::vector<std::string> reports = take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("has since become the announced block of 64 bytes") != std::string::npos);
  CHECK(api().cuGraphExecDestroy(exec) == kSuccess);
  api().sim.retire_block(block(0));
}

TEST_CASE("cuda_sim: what capture forbids") {
  begin();
  Buffer x(filled(1)), y(filled(0));
  GraphHandle graph = nullptr;
  StreamHandle side = new_stream();
  CHECK(api().cuStreamEndCapture(stream(), &graph) == 401);  // it does not capture
  auto begin_capture = [&](int mode) { REQUIRE(api().cuStreamBeginCapture(stream(), mode) == kSuccess); };
  auto expect_invalid = [&] {
    int status = 0;
    CHECK(api().cuStreamIsCapturing(stream(), &status) == kSuccess);
    CHECK(status == kCaptureStatusInvalidated);
    CHECK(launch_add(stream(), x.at(), y.at(), 1) == kErrorStreamCaptureInvalidated);
    CHECK(api().cuStreamEndCapture(stream(), &graph) == kErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
  };
  DevicePtr memory;
  begin_capture(kCaptureModeGlobal);
  CHECK(api().cuMemAlloc(&memory, 16) == kErrorStreamCaptureUnsupported);
  expect_invalid();
  begin_capture(kCaptureModeGlobal);
  CHECK(api().cuStreamSynchronize(stream()) == kErrorStreamCaptureUnsupported);
  expect_invalid();
  begin_capture(kCaptureModeRelaxed);
  CHECK(api().cuCtxSynchronize() == kErrorStreamCaptureUnsupported);
  expect_invalid();
  // Relaxed: allocation is nobody's business.
  begin_capture(kCaptureModeRelaxed);
  CHECK(api().cuMemAlloc(&memory, 16) == kSuccess);
  CHECK(api().cuMemFree(memory) == kSuccess);
  CHECK(api().cuStreamEndCapture(stream(), &graph) == kSuccess);
  CHECK(api().cuGraphDestroy(graph) == kSuccess);
  // Thread-local: another thread may.
  begin_capture(kCaptureModeThreadLocal);
  Result elsewhere = kSuccess;
  ContextHandle context;
  CHECK(api().cuCtxGetCurrent(&context) == kSuccess);
  std::thread([&] {
    api().cuCtxSetCurrent(context);
    elsewhere = api().cuMemAlloc(&memory, 16);
  }).join();
  CHECK(elsewhere == kSuccess);
  CHECK(api().cuStreamEndCapture(stream(), &graph) == kSuccess);
  CHECK(api().cuGraphDestroy(graph) == kSuccess);
  CHECK(api().cuMemFree(memory) == kSuccess);
  // A fork that does not come back.
  begin_capture(kCaptureModeGlobal);
  order(stream(), side);
  CHECK(launch_add(side, x.at(), y.at(), 1) == kSuccess);
  CHECK(api().cuStreamEndCapture(side, &graph) == 903);
  CHECK(api().cuStreamEndCapture(stream(), &graph) == kErrorStreamCaptureUnjoined);
  // An event of the capture cannot be waited for on the host; one of before cannot be an edge.
  EventHandle event = new_event();
  CHECK(api().cuEventRecord(event, side) == kSuccess);
  begin_capture(kCaptureModeGlobal);
  CHECK(api().cuStreamWaitEvent(stream(), event, 0) == 905);
  CHECK(api().cuStreamEndCapture(stream(), &graph) == kErrorStreamCaptureInvalidated);
  begin_capture(kCaptureModeGlobal);
  CHECK(api().cuEventRecord(event, stream()) == kSuccess);
  CHECK(api().cuEventQuery(event) == 907);
  CHECK(api().cuStreamEndCapture(stream(), &graph) == kSuccess);
  CHECK(api().cuGraphDestroy(graph) == kSuccess);
  CHECK(api().cuGraphDestroy(graph) == kErrorInvalidValue);
  CHECK(api().cuEventDestroy(event) == kSuccess);
  CHECK(api().cuStreamDestroy(side) == kSuccess);
  CHECK(take_reports().empty());
}
