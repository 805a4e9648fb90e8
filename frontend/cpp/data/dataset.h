// Dataset: numbered examples, each a list of tensors; TensorDataset, Subset and random_split.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace fuselet::data {

// One example's tensors, or a batch's.
using Example = std::vector<Tensor>;

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // Example i of [0, size()). A loader may call it from several threads at once and in any order, so it must depend on
  // i alone.
  virtual Example get(int64_t i) const = 0;
  // The examples stacked along a new first dimension; override where there is a faster way.
  virtual Example get_batch(std::span<const int64_t> indices) const;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Example i holds entry i of each tensor's first dimension.
class TensorDataset : public Dataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors);
  template <class... More>
  explicit TensorDataset(Tensor first, More... more)
      : TensorDataset(std::vector<Tensor>{std::move(first), std::move(more)...}) {}
  int64_t size() const override { return tensors_[0].size(0); }
  Example get(int64_t i) const override;
  Example get_batch(std::span<const int64_t> indices) const override;
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

// The examples of another dataset that `indices` name, in their order.
class Subset : public Dataset {
 public:
  Subset(DatasetPtr whole, std::vector<int64_t> indices);
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Example get(int64_t i) const override;
  Example get_batch(std::span<const int64_t> indices) const override;
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  DatasetPtr whole_;
  std::vector<int64_t> indices_;
};

// Disjoint subsets of the given lengths, which must add up to the size; which examples go where depends on `seed`
// alone.
std::vector<Subset> random_split(DatasetPtr whole, std::vector<int64_t> lengths, uint64_t seed = 0);
template <class D>
std::vector<Subset> random_split(D whole, std::vector<int64_t> lengths, uint64_t seed = 0) {
  return random_split(DatasetPtr(std::make_shared<D>(std::move(whole))), std::move(lengths), seed);
}

// The numbers below n in an order that depends on seed and `round` alone, the same on every platform.
std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t round = 0);

}  // namespace fuselet::data
