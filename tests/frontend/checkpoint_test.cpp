// Checkpoints of whole runs: a resumed run equals an uninterrupted one bit for bit, a damaged file changes nothing.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace fuselet;

namespace {

std::string temporary_path(const char* name) {
  return std::filesystem::temp_directory_path() / concat("fuselet_checkpoint_", ::getpid(), "_", name);
}

// Everything that a run consists of, from a seed.
struct Run {
  nn::Sequential model;
  optim::AdamW optimizer;
  optim::CosineAnnealingLR scheduler;
  data::DataLoader loader;

  explicit Run(uint64_t seed)
      : model(seeded_model(seed)),
        optimizer(model.parameters(), {.lr = 0.05}),
        scheduler(optimizer, 20),
        loader(examples(), {.batch_size = 5, .shuffle = true, .seed = seed}) {}

  static nn::Sequential seeded_model(uint64_t seed) {
    manual_seed(seed);
    return nn::Sequential(nn::Linear(4, 8), nn::Dropout(0.3), nn::GELU(), nn::Linear(8, 3));
  }
  static data::TensorDataset examples() {
    Tensor x = (arange(80).cast(kFloat32) / 40 - 1).view({20, 4});
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < 20; ++i) classes.push_back(i % 3);
    return data::TensorDataset(x, from_vector(classes));
  }
  Checkpoint parts() { return {.model = &model, .optimizer = &optimizer, .scheduler = &scheduler, .loader = &loader}; }

  // Takes `steps` steps, over as many epochs as that takes, and returns the losses.
  std::vector<double> train(int steps) {
    std::vector<double> losses;
    while (steps > 0) {
      for (const data::Example& batch : loader) {
        optimizer.zero_grad();
        Tensor loss = nn::functional::cross_entropy(model(batch[0]), batch[1]);
        loss.backward();
        nn::utils::clip_grad_norm_(model.parameters(), 1.0);
        optimizer.step();
        scheduler.step();
        losses.push_back(loss.item());
        if (--steps == 0) break;
      }
    }
    return losses;
  }
  std::vector<double> weights() const {
    std::vector<double> all;
    for (const Tensor& p : model.parameters()) {
      for (double v : p.to_vector()) all.push_back(v);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("a resumed run equals an uninterrupted one bit for bit") {
  std::string path = temporary_path("resume");
  // The interrupted run saves inside its loop, as a training program does.
  Run whole(7);
  std::vector<double> expected;
  int step = 0;
  bool stopped = false;
  while (!stopped) {
    for (const data::Example& batch : whole.loader) {
      whole.optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(whole.model(batch[0]), batch[1]);
      loss.backward();
      nn::utils::clip_grad_norm_(whole.model.parameters(), 1.0);
      whole.optimizer.step();
      whole.scheduler.step();
      ++step;
      if (step > 6) expected.push_back(loss.item());
      if (step == 6) {
        Checkpoint parts = whole.parts();
        parts.user.set_int("step", step);
        save_checkpoint(path, parts);
      }
      if (step == 14) {
        stopped = true;
        break;
      }
    }
  }
  Run resumed(1234);
  State user = load_checkpoint(path, resumed.parts());
  CHECK(user.get_int("step") == 6);
  CHECK(resumed.train(8) == expected);
  CHECK(resumed.weights() == whole.weights());
  CHECK(resumed.optimizer.lr() == whole.optimizer.lr());
  std::filesystem::remove(path);
}

TEST_CASE("the same seed gives the same run, whatever the number of threads") {
  int before = get_num_threads();
  set_num_threads(1);
  Run one(3);
  std::vector<double> first = one.train(9);
  set_num_threads(2);
  Run two(3);
  CHECK(two.train(9) == first);
  CHECK(two.weights() == one.weights());
  set_num_threads(before);
}

TEST_CASE("a damaged or unfit checkpoint changes nothing") {
  std::string path = temporary_path("damaged");
  Run saved(1);
  saved.train(3);
  save_checkpoint(path, saved.parts());
  std::string bytes = data::read_file(path);

  nn::Linear other(4, 8);
  Run run(2);
  run.train(2);
  std::vector<double> weights = run.weights();
  State optimizer = run.optimizer.state_dict(), scheduler = run.scheduler.state_dict(),
        loader = run.loader.state_dict();
  GeneratorState generator = default_generator().state();
  auto refused = [&](const Checkpoint& parts, const char* reason) {
    CHECK_THROWS_WITH_AS(load_checkpoint(path, parts), doctest::Contains(reason), Error);
    CHECK(run.weights() == weights);
    CHECK(run.optimizer.state_dict().values == optimizer.values);
    CHECK(run.scheduler.state_dict().values == scheduler.values);
    CHECK(run.loader.state_dict().values == loader.values);
    CHECK(default_generator().state() == generator);
  };
  auto write = [&](const std::string& content) { std::ofstream(path, std::ios::binary) << content; };

  write(bytes.substr(0, bytes.size() - 1));
  refused(run.parts(), "truncated");
  std::string flipped = bytes;
  flipped[bytes.size() - 3] ^= 1;
  write(flipped);
  refused(run.parts(), "checksum");
  // Every single flipped byte of the file is noticed.
  for (size_t i = 0; i < bytes.size(); i += 7) {
    flipped = bytes;
    flipped[i] ^= 4;
    write(flipped);
    CAPTURE(i);
    CHECK_THROWS_AS(load_checkpoint(path, run.parts()), Error);
  }
  CHECK(run.weights() == weights);

  write(bytes);
  // The model is the last part to load; those before it go back.
  Checkpoint wrong = run.parts();
  wrong.model = &other;
  refused(wrong, "does not fit this Linear");
  save_checkpoint(path, {.model = &saved.model});
  refused(run.parts(), "holds no optimizer");
  save_safetensors(path, saved.model.state_dict());
  refused(run.parts(), "no checkpoint");
  std::filesystem::remove(path);
}

TEST_CASE("a part alone can be read from a checkpoint of many") {
  std::string path = temporary_path("part");
  Run saved(1);
  save_checkpoint(path, saved.parts());
  Run run(2);
  load_checkpoint(path, {.model = &run.model, .generator = false});
  CHECK(run.weights() == saved.weights());
  std::filesystem::remove(path);
}

TEST_CASE("small values survive exactly") {
  State state;
  state.set_double("tenth", 0.1);
  state.set_double("least", 5e-324);
  state.set_uint("most", UINT64_MAX);
  state.set_int("negative", -3);
  CHECK(state.get_double("tenth") == 0.1);
  CHECK(state.get_double("least") == 5e-324);
  CHECK(state.get_uint("most") == UINT64_MAX);
  CHECK(state.get_int("negative") == -3);
  CHECK_THROWS_AS(state.get_int("tenth"), Error);
  CHECK_THROWS_AS(state.get_int("absent"), Error);
}
