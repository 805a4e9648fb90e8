// The default device from C++: what heeds it, and that a compiled function compares it.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <thread>

using namespace fuselet;

namespace {

constexpr Device kCpu{}, kCuda{DeviceType::CUDA, 0};

bool has_device() {
  if (cuda::is_available()) return true;
  MESSAGE("skipped: ", std::string(cuda::why_not_available()));
  return false;
}

}  // namespace

TEST_CASE("gpu: what names no device is made on the default one") {
  if (!has_device()) return;
  CHECK(get_default_device() == kCpu);
  {
    DefaultDeviceGuard on_cuda(kCuda);
    const std::vector<float> numbers = {1, 2, 3};
    for (const Tensor& t : {zeros({2}), randn({2}), arange(3), tensor({1, 2}), tensor(1.5), from_vector(numbers),
                            nn::Linear(2, 2).weight(), nn::LayerNorm({2}).parameters()[0]})
      CHECK(t.device() == kCuda);
    CHECK(from_vector(numbers).to_vector() == std::vector<double>{1, 2, 3});
    const Tensor host = zeros({2}, kFloat32, kCpu);
    CHECK(zeros_like(host).device() == kCpu);
    float memory[2] = {1, 2};
    CHECK(from_blob(memory, {2}, kFloat32).device() == kCpu);
    Device elsewhere = kCuda;
    std::thread([&] { elsewhere = get_default_device(); }).join();
    CHECK(elsewhere == kCpu);
    {
      DefaultDeviceGuard back(kCpu);
      CHECK(zeros({2}).device() == kCpu);
    }
    CHECK(zeros({2}).device() == kCuda);
  }
  CHECK(zeros({2}).device() == kCpu);
  set_default_device(kCuda);
  CHECK(ones({1}).device() == kCuda);
  set_default_device(kCpu);
}

TEST_CASE("gpu: a compiled function makes its tensors where the default device is now") {
  if (!has_device()) return;
  auto f = compile([](const Tensor& x) { return arange(3) * 2 + x.to(get_default_device()); });
  const Tensor x = ones({3}, kFloat32);
  for (Device device : {kCpu, kCuda, kCpu, kCuda}) {
    DefaultDeviceGuard guard(device);
    const Tensor y = f(x);
    CHECK(y.device() == device);
    CHECK(y.to_vector() == std::vector<double>{1, 3, 5});
  }
}
