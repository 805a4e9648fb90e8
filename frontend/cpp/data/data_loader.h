// DataLoader: a dataset in batches, shuffled anew each epoch, prepared in the background.
//
//   data::DataLoader loader(data::TensorDataset(images, labels), {.batch_size = 32, .shuffle = true, .seed = 7});
//   for (const data::Example& batch : loader) { … batch[0], batch[1] … }
//
// Each `for` is an epoch. The order is a function of (seed, epoch) alone, whatever the number of threads. state_dict()
// tells where the loader stands: after load_state_dict() the next `for` goes on with the first batch that had not been
// handed out. A loop left early is given up; the next one is a new epoch. An exception of the dataset is thrown by the
// loop.
#pragma once
#include <memory>

#include "frontend/cpp/checkpoint/state.h"
#include "frontend/cpp/data/dataset.h"
#include "frontend/cpp/data/prefetcher.h"

namespace fuselet::data {

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  uint64_t seed = 0;
  bool drop_last = false;  // leaves out a last batch that is not full
  int workers = 1;         // background threads; 0 prepares each batch on the caller's
  int64_t prefetch = 2;    // batches ready ahead for each worker
};

class DataLoader {
 public:
  DataLoader(DatasetPtr dataset, LoaderOptions options = {});
  template <class D>
  requires std::is_base_of_v<Dataset, D> DataLoader(D dataset, LoaderOptions options = {})
      : DataLoader(DatasetPtr(std::make_shared<D>(std::move(dataset))), options) {}

  // Batches of a whole epoch.
  int64_t num_batches() const;
  const Dataset& dataset() const { return *dataset_; }
  int64_t epoch() const { return epoch_; }
  // Batches handed out in this epoch.
  int64_t position() const { return position_; }

  struct End {};
  class Iterator {
   public:
    const Example& operator*() const { return batch_; }
    Iterator& operator++();
    bool operator==(End) const { return !loader_; }

   private:
    friend class DataLoader;
    explicit Iterator(DataLoader* loader) : loader_(loader) { ++*this; }
    DataLoader* loader_;
    Example batch_;
  };
  // The loader must outlive the loop; one loop at a time.
  Iterator begin();
  End end() const { return {}; }

  State state_dict() const;
  // Error, before anything changes, if the state is of a loader with another number of examples, batch size or
  // shuffling.
  void load_state_dict(const State& state);

 private:
  Example batch_at(int64_t number) const;
  bool next(Example& batch);

  DatasetPtr dataset_;
  LoaderOptions options_;
  int64_t epoch_ = 0, position_ = 0;
  bool resumed_ = false;
  std::vector<int64_t> order_;
  std::unique_ptr<Prefetcher> prefetcher_;
};

}  // namespace fuselet::data
