#include "frontend/cpp/data/dataset.h"

#include <numeric>

#include "core/ops/functions.h"
#include "frontend/cpp/values/from_values.h"

namespace fuselet::data {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014).
class WordStream {
 public:
  WordStream(uint64_t seed, uint64_t round) : state_(seed) { state_ = next() ^ (round * 0xd1342543de82ef95u + 1); }
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [0, n): words beyond the last whole multiple of n are drawn again.
  uint64_t below(uint64_t n) {
    uint64_t surplus = (0 - n) % n;
    uint64_t word = next();
    while (word < surplus) word = next();
    return word % n;
  }

 private:
  uint64_t state_;
};

}  // namespace

std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t round) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  WordStream words(seed, round);
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[words.below(left)]);
  return order;
}

Example Dataset::get_batch(std::span<const int64_t> indices) const {
  std::vector<Example> columns;
  for (int64_t i : indices) {
    Example example = get(i);
    if (columns.empty()) columns.resize(example.size());
    FUSELET_CHECK(example.size() == columns.size(), "DataLoader: example ", i, " has ", example.size(),
                  " tensors, others ", columns.size());
    for (size_t c = 0; c < columns.size(); ++c) columns[c].push_back(std::move(example[c]));
  }
  Example batch;
  for (const Example& column : columns) batch.push_back(stack(column));
  return batch;
}

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  FUSELET_CHECK(!tensors_.empty(), "TensorDataset: expected at least one tensor");
  for (const Tensor& t : tensors_) {
    FUSELET_CHECK(t.dim() > 0 && t.size(0) == tensors_[0].size(0), "TensorDataset: tensors of shapes ",
                  to_string(tensors_[0].sizes()), " and ", to_string(t.sizes()), " differ in their number of examples");
  }
}

Example TensorDataset::get(int64_t i) const {
  FUSELET_CHECK_INDEX(i >= 0 && i < size(), "TensorDataset: example ", i, " of ", size());
  Example example;
  for (const Tensor& t : tensors_) example.push_back(t[i]);
  return example;
}

Example TensorDataset::get_batch(std::span<const int64_t> indices) const {
  Tensor rows = copy_bytes(indices.data(), IntList(indices.size()), DType::Int64);
  Example batch;
  for (const Tensor& t : tensors_) batch.push_back(t.index_select(0, rows.to(t.device())));
  return batch;
}

Subset::Subset(DatasetPtr whole, std::vector<int64_t> indices)
    : whole_(std::move(whole)), indices_(std::move(indices)) {
  for (int64_t i : indices_)
    FUSELET_CHECK_INDEX(i >= 0 && i < whole_->size(), "Subset: example ", i, " of ", whole_->size());
}

Example Subset::get(int64_t i) const {
  FUSELET_CHECK_INDEX(i >= 0 && i < size(), "Subset: example ", i, " of ", size());
  return whole_->get(indices_[static_cast<size_t>(i)]);
}

Example Subset::get_batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> mapped;
  for (int64_t i : indices) mapped.push_back(indices_.at(static_cast<size_t>(i)));
  return whole_->get_batch(mapped);
}

std::vector<Subset> random_split(DatasetPtr whole, std::vector<int64_t> lengths, uint64_t seed) {
  int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  FUSELET_CHECK(total == whole->size(), "random_split: the lengths add up to ", total, ", the dataset has ",
                whole->size(), " examples");
  std::vector<int64_t> order = permutation(total, seed);
  std::vector<Subset> parts;
  auto at = order.begin();
  for (int64_t length : lengths) {
    FUSELET_CHECK(length >= 0, "random_split: a length must not be negative, got ", length);
    parts.emplace_back(whole, std::vector<int64_t>(at, at + length));
    at += length;
  }
  return parts;
}

}  // namespace fuselet::data
