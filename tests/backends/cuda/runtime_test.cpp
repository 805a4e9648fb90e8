// Streams, events, copies and tensors on a device, real or simulated (FUSELET_CUDA=sim). Without one, skipped.
// Nothing here needs a kernel: what is compared comes back to the host.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <thread>

using namespace fuselet;

namespace {

// Evaluated before main, so that a machine without a device reports these cases as skipped.
const bool kNoDevice = !cuda::is_available();
#define DEVICE_TEST(name) TEST_CASE("cuda runtime: " name* doctest::skip(kNoDevice))

const Device kCuda{DeviceType::CUDA, 0};
constexpr int64_t mib(int64_t n) { return n << 20; }
Tensor bytes_on_device(int64_t n) { return zeros({n}, DType::Int8).to(kCuda); }

}  // namespace

DEVICE_TEST("a device says what it is") {
  CHECK(cuda::device_count() >= 1);
  const cuda::DeviceProperties& p = cuda::device_properties(0);
  CHECK_FALSE(p.name.empty());
  CHECK(p.warp_size == 32);
  CHECK(p.multiprocessors > 0);
  CHECK(p.shared_memory_per_block_optin >= p.shared_memory_per_block);
  auto [free, total] = cuda::mem_get_info(0);
  CHECK(free <= total);
  CHECK_THROWS_AS(cuda::set_device(99), Error);
  CHECK_THROWS_AS(cuda::set_device(-1), Error);
  CHECK(cuda::current_device() == 0);
}

DEVICE_TEST("the default stream is the device's own, for every thread") {
  cuda::Stream first = cuda::current_stream();
  CHECK(first == cuda::default_stream());
  CHECK(first.handle() != nullptr);
  uint64_t elsewhere = 0;
  std::thread([&] { elsewhere = cuda::current_stream(0).id(); }).join();
  CHECK(elsewhere == first.id());
}

DEVICE_TEST("a stream is current for a scope and a thread") {
  cuda::Stream side;
  {
    cuda::StreamGuard guard(side);
    CHECK(cuda::current_stream() == side);
    std::thread([&] { CHECK(cuda::current_stream(0) == cuda::default_stream(0)); }).join();
  }
  CHECK(cuda::current_stream() == cuda::default_stream());
}

DEVICE_TEST("a stream whose last handle is gone is taken over") {
  uint64_t id;
  {
    cuda::Stream a, b;
    CHECK_FALSE(a == b);
    id = a.id();
    cuda::set_current_stream(b);
  }
  cuda::Stream c;
  CHECK(c.id() == id);
  CHECK_FALSE(cuda::current_stream() == c);  // b is current and therefore not free
  cuda::set_current_stream(cuda::default_stream());
}

DEVICE_TEST("events order streams and measure time") {
  cuda::Stream side;
  cuda::Event start(true), end(true);
  CHECK(start.query());
  CHECK_THROWS_WITH_AS(start.elapsed_time(end), "elapsed_time: both events must have been recorded", Error);
  start.record(side);
  {
    cuda::StreamGuard guard(side);
    cuda::sleep(1'000'000);
  }
  end.record(side);
  end.synchronize();
  CHECK(end.query());
  CHECK(start.elapsed_time(end) >= 0);
  CHECK_THROWS_AS(cuda::Event().elapsed_time(end), Error);
  cuda::current_stream().wait_event(end);
  cuda::current_stream().wait_stream(side);
  cuda::current_stream().synchronize();
  CHECK(cuda::current_stream().query());
}

DEVICE_TEST("elements survive the way there and back, of every dtype and layout") {
  for (int t = 0; t < kNumDTypes; ++t) {
    Tensor x = arange(24, {}, 1, DType::Int64).cast(static_cast<DType>(t)).view({2, 3, 4});
    for (const Tensor& v : {x, x.permute({2, 0, 1}), x.slice(2, 1, 3), x.expand({5, 2, 3, 4}), x.select(0, 1),
                            x.slice(0, 0, 0), x.view({24}).select(0, 7)}) {
      Tensor there = v.cuda();
      CHECK(there.device() == kCuda);
      CHECK(there.dtype() == v.dtype());
      CHECK(same_sizes(there.sizes(), v.sizes()));
      CHECK(there.cpu().to_vector() == v.to_vector());
      CHECK(there.to_vector() == v.to_vector());
    }
  }
}

DEVICE_TEST("a tensor that is there already is itself") {
  Tensor x = ones({2});
  CHECK(x.cpu().is_same(x));
  Tensor y = x.cuda();
  CHECK(y.cuda().is_same(y));
}

DEVICE_TEST("host code reads values, and is refused addresses") {
  Tensor x = tensor({1.5, 2.5}, DType::Float64).cuda();
  CHECK(x.select(0, 1).item() == 2.5);
  CHECK(to_string(x).find("tensor([1.5, 2.5]") == 0);
  CHECK(to_string(x).find("device=cuda:0") != std::string::npos);
  CHECK_THROWS_WITH_AS(x.data<double>(), "data<T>(): the elements are in memory of cuda:0; copy them with .cpu() first",
                       Error);
}

DEVICE_TEST("copy_ crosses devices, with casts and broadcasts") {
  Tensor host = zeros({2, 3}, DType::Float32), device = zeros({2, 3}, DType::Float32).cuda();
  device.copy_(arange(6, {}, 1, DType::Float32).view({2, 3}));
  CHECK(device.version() == 1);
  host.copy_(device);
  CHECK(host.to_vector() == std::vector<double>{0, 1, 2, 3, 4, 5});
  device.copy_(tensor({7, 8, 9}).expand({2, 3}));
  host.t().copy_(device.t());
  CHECK(host.to_vector() == std::vector<double>{7, 8, 9, 7, 8, 9});
  Tensor wide = zeros({3, 2, 3}, DType::Float64);
  wide.slice(0, 1, 3).copy_(device);
  CHECK(wide.to_vector() == std::vector<double>{0, 0, 0, 0, 0, 0, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9});
  CHECK_THROWS_AS(host.copy_(zeros({4}).cuda()), Error);
}

DEVICE_TEST("gradients come back to the device of their tensor") {
  Tensor x = ones({3});
  x.requires_grad_();
  Tensor y = x.cuda();
  CHECK(y.requires_grad());
  (y.cpu() * tensor({1.0, 2.0, 3.0})).sum().backward();
  CHECK(x.grad().device() == Device{});
  CHECK(x.grad().to_vector() == std::vector<double>{1, 2, 3});
  Tensor z = ones({3}).cuda();
  z.requires_grad_();
  (z.cpu() * 2).sum().backward();
  CHECK(z.grad().device() == kCuda);
  CHECK(z.grad().to_vector() == std::vector<double>{2, 2, 2});
  CHECK_THROWS_AS(z.set_grad(ones({3})), Error);
}

DEVICE_TEST("tensors on two devices are refused by name") {
  Tensor x = ones({3}), y = x.cuda();
  CHECK_THROWS_WITH_AS(x + y, "add: all tensors must be on one device, got cpu and cuda:0; move one with .to()", Error);
}

DEVICE_TEST("statistics of tensors are exact") {
  cuda::empty_cache();
  const int64_t before = cuda::memory_allocated();
  Tensor a = bytes_on_device(mib(4));
  cuda::reset_peak_memory_stats();
  CHECK(cuda::memory_allocated() - before == mib(4));
  CHECK(cuda::max_memory_allocated() == cuda::memory_allocated());
  { Tensor b = bytes_on_device(mib(2)); }
  CHECK(cuda::max_memory_allocated() - before == mib(6));
  a = Tensor();
  CHECK(cuda::memory_allocated() == before);
  CHECK(cuda::memory_reserved() >= mib(6));
}

DEVICE_TEST("pinned memory is copied while the caller goes on, and is kept until then") {
  Tensor x = cuda::pin_memory(arange(1000, {}, 1, DType::Float32));
  CHECK(cuda::is_pinned(x));
  CHECK(cuda::is_pinned(x.slice(0, 500)));
  CHECK_FALSE(cuda::is_pinned(ones({2})));
  CHECK(cuda::pin_memory(x).is_same(x));
  cuda::Stream side;
  Tensor y;
  const void* address = x.raw_data();
  {
    cuda::StreamGuard guard(side);
    cuda::sleep(20'000'000);
    y = x.to(kCuda, true);
  }
  const std::vector<double> values = x.to_vector();
  x = Tensor();
  // While the copy waits, its source is not handed out again.
  Tensor z = cuda::pin_memory(zeros({1000}, DType::Float32));
  if (!side.query()) CHECK(z.raw_data() != address);
  side.synchronize();
  CHECK(y.to_vector() == values);
  CHECK_THROWS_AS(cuda::pin_memory(y), Error);
}

DEVICE_TEST("memory that another stream uses is not handed out") {
  Tensor src = bytes_on_device(mib(1));
  const void* address = src.raw_data();
  cuda::Stream side;
  side.wait_stream(cuda::current_stream());
  Tensor dst = cuda::pin_memory(zeros({mib(1)}, DType::Int8));
  {
    cuda::StreamGuard guard(side);
    cuda::sleep(20'000'000);
    cuda::copy_non_blocking(dst, src);
  }
  cuda::record_stream(src, side);
  src = Tensor();
  Tensor junk = zeros({mib(1)}, DType::Int8).to(kCuda);
  if (!side.query()) CHECK(junk.raw_data() != address);
  cuda::synchronize();
  CHECK_THROWS_AS(cuda::record_stream(dst, side), Error);
}

DEVICE_TEST("threads share a device's memory") {
  cuda::empty_cache();
  const int64_t before = cuda::memory_allocated();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      cuda::Stream own(0);
      cuda::StreamGuard guard(own);
      uint32_t random = static_cast<uint32_t>(t) + 1;
      std::vector<StoragePtr> held(16);
      for (int i = 0; i < 5000; ++i) {
        random = random * 1664525 + 1013904223;
        held[random >> 28] = make_intrusive<Storage>(1 + (random >> 8 & 0x3fffff), kCuda);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(cuda::memory_allocated() == before);
  cuda::synchronize();
  cuda::empty_cache();
  CHECK(cuda::memory_stats().inactive_split.all.current <= cuda::memory_stats().allocation.all.current + 1);
}

DEVICE_TEST("out of memory is an error with numbers, and changes nothing") {
  const int64_t before = cuda::memory_allocated();
  try {
    Storage(size_t{1} << 50, kCuda);
    FAIL("no error");
  } catch (const cuda::OutOfMemoryError& e) {
    CHECK(e.state().requested == size_t{1} << 50);
    CHECK(e.state().total > 0);
  }
  CHECK(cuda::memory_allocated() == before);
}

DEVICE_TEST("a module moves, and its state is saved from where it is") {
  nn::Linear net(3, 2);
  const std::vector<double> weight = net.weight().to_vector();
  Tensor there = net.weight().detach().cuda();
  save_safetensors("cuda_runtime_test.safetensors", {{"w", there}});
  SafetensorsFile file = load_safetensors("cuda_runtime_test.safetensors");
  std::remove("cuda_runtime_test.safetensors");
  CHECK(file.tensors[0].second.to_vector() == weight);
}
