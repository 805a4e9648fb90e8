#include "frontend/cpp/data/data_loader.h"

#include <algorithm>
#include <numeric>

#include "core/dispatch_state.h"

namespace fuselet::data {

DataLoader::DataLoader(DatasetPtr dataset, LoaderOptions options) : dataset_(std::move(dataset)), options_(options) {
  FUSELET_CHECK(dataset_, "DataLoader: no dataset");
  FUSELET_CHECK(options.batch_size > 0, "DataLoader: batch_size must be positive, got ", options.batch_size);
  FUSELET_CHECK(options.workers >= 0 && options.prefetch > 0,
                "DataLoader: workers must not be negative and prefetch positive, got ", options.workers, " and ",
                options.prefetch);
}

int64_t DataLoader::num_batches() const {
  int64_t n = dataset_->size();
  return options_.drop_last ? n / options_.batch_size : (n + options_.batch_size - 1) / options_.batch_size;
}

Example DataLoader::batch_at(int64_t number) const {
  NoGradGuard no_grad;
  size_t first = static_cast<size_t>(number * options_.batch_size);
  size_t count = std::min(static_cast<size_t>(options_.batch_size), order_.size() - first);
  return dataset_->get_batch(std::span(order_).subspan(first, count));
}

DataLoader::Iterator DataLoader::begin() {
  prefetcher_.reset();
  if (!resumed_ && position_ > 0) {
    ++epoch_;
    position_ = 0;
  }
  resumed_ = false;
  if (options_.shuffle) {
    order_ = permutation(dataset_->size(), options_.seed, static_cast<uint64_t>(epoch_));
  } else {
    order_.resize(static_cast<size_t>(dataset_->size()));
    std::iota(order_.begin(), order_.end(), 0);
  }
  if (options_.workers > 0 && position_ < num_batches()) {
    prefetcher_ = std::make_unique<Prefetcher>([this](int64_t number) { return batch_at(number); }, position_,
                                               num_batches(), options_.workers, options_.workers * options_.prefetch);
  }
  return Iterator(this);
}

bool DataLoader::next(Example& batch) {
  if (position_ >= num_batches()) {
    prefetcher_.reset();
    ++epoch_;
    position_ = 0;
    return false;
  }
  batch = prefetcher_ ? prefetcher_->take() : batch_at(position_);
  ++position_;
  return true;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  batch_.clear();
  if (!loader_->next(batch_)) loader_ = nullptr;
  return *this;
}

State DataLoader::state_dict() const {
  State state;
  state.set_int("examples", dataset_->size());
  state.set_int("batch_size", options_.batch_size);
  state.set_int("shuffle", options_.shuffle);
  state.set_int("drop_last", options_.drop_last);
  state.set_uint("seed", options_.seed);
  state.set_int("epoch", epoch_);
  state.set_int("position", position_);
  return state;
}

void DataLoader::load_state_dict(const State& state) {
  auto must_equal = [&](const char* name, int64_t own) {
    FUSELET_CHECK(state.get_int(name) == own, "DataLoader: the state has ", name, " ", state.get_int(name),
                  ", this loader ", own);
  };
  must_equal("examples", dataset_->size());
  must_equal("batch_size", options_.batch_size);
  must_equal("shuffle", options_.shuffle);
  must_equal("drop_last", options_.drop_last);
  uint64_t seed = state.get_uint("seed");
  int64_t epoch = state.get_int("epoch"), position = state.get_int("position");
  FUSELET_CHECK(epoch >= 0 && position >= 0 && position <= num_batches(), "DataLoader: the state stands at batch ",
                position, " of epoch ", epoch, ", this loader has ", num_batches());
  prefetcher_.reset();
  options_.seed = seed;
  epoch_ = epoch;
  position_ = position;
  resumed_ = true;
}

}  // namespace fuselet::data
