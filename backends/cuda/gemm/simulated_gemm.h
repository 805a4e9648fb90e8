// Products on the simulated device: host_gemm as an operation of the stream, with the memory that it touches, so that
// they take part in the simulator's checks of order, bounds and initialisation.
#pragma once
#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

class SimulatedGemm final : public GemmLibrary {
 public:
  // `driver` outlives this; it is the simulator's.
  explicit SimulatedGemm(const DriverApi& driver) : driver_(driver) {}
  const char* name() const override { return "simulated gemm"; }

 private:
  void enqueue(const GemmDesc& desc, StreamHandle stream) override;
  const DriverApi& driver_;
};

}  // namespace fuselet::cuda
