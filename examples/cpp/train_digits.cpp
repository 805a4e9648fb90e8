// Trains an MLP or a small CNN on handwritten digits, its step compiled, eager, or both, and prints the accuracy on a
// fifth that it has not seen.
#include <fuselet/compile.h>
#include <fuselet/cuda.h>
#include <fuselet/fuselet.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "examples/cpp/arguments.h"
#include "examples/cpp/print_summary.h"

namespace fs = std::filesystem;
using namespace fuselet;

namespace {

constexpr int64_t kSide = 8, kClasses = 10;
// The images' values are 0 … 16.
constexpr double kBrightest = 16;

// x: (N, 1, 8, 8); logits: (N, 10)
nn::Sequential make_model(const std::string& name) {
  if (name == "mlp") {
    return nn::Sequential(nn::Flatten(), nn::Linear(kSide * kSide, 128), nn::ReLU(), nn::Dropout(0.2),
                          nn::Linear(128, kClasses));
  }
  return nn::Sequential(nn::Conv2d(1, 16, 3, {.padding = 1}), nn::ReLU(),   // (N, 16, 8, 8)
                        nn::Conv2d(16, 32, 3, {.padding = 1}), nn::ReLU(),  // (N, 32, 8, 8)
                        nn::MaxPool2d(2),                                   // (N, 32, 4, 4)
                        nn::Flatten(), nn::Dropout(0.25), nn::Linear(32 * 4 * 4, 64), nn::ReLU(),
                        nn::Linear(64, kClasses));
}

// The data lie in the source tree; the program runs from there or from a build folder below it.
fs::path find_data(const std::string& given) {
  if (!given.empty()) return given;
  std::error_code ignored;
  for (fs::path start : {fs::current_path(), fs::read_symlink("/proc/self/exe", ignored).parent_path()}) {
    for (fs::path folder = start; folder != folder.root_path() && !folder.empty(); folder = folder.parent_path()) {
      fs::path data = folder / "examples" / "data";
      if (fs::exists(data / "digits-images.idx3-ubyte")) return data;
    }
  }
  fail("the digits were not found near the program; name their folder with --data");
}

// Where models and batches lie: a GPU if there is one and nobody wants otherwise.
Device find_device(const std::string& name) {
  if (name == "auto") return cuda::is_available() ? parse_device("cuda") : Device{};
  return parse_device(name);
}
data::Example moved(const data::Example& batch, Device device) { return {batch[0].to(device), batch[1].to(device)}; }

struct Score {
  double loss = 0, accuracy = 0;
};

Score evaluate(nn::Module& model, const data::Dataset& examples, Device device) {
  NoGradGuard no_grad;
  model.eval();
  std::vector<int64_t> all = data::permutation(examples.size(), 0);
  data::Example batch = moved(examples.get_batch(all), device);
  Tensor logits = model(batch[0]);
  double loss = nn::functional::cross_entropy(logits, batch[1]).item();
  double right = (logits.argmax(1) == batch[1]).sum().item();
  return {loss, right / static_cast<double>(examples.size())};
}

// A model with all that trains it. Two of one seed start alike and see the same batches.
struct Training {
  Device device;
  nn::Sequential model;
  data::DataLoader loader;
  optim::AdamW optimizer;
  optim::CosineAnnealingLR scheduler;

  Training(const std::string& name, const data::Subset& examples, uint64_t seed, int64_t epochs, Device where)
      : device(where),
        model(make_seeded(name, seed, where)),
        loader(examples, {.batch_size = 32, .shuffle = true, .seed = seed, .drop_last = true}),
        optimizer(model.parameters(), {.lr = 3e-3}),
        scheduler(optimizer, epochs * loader.num_batches()) {}

  static nn::Sequential make_seeded(const std::string& name, uint64_t seed, Device where) {
    manual_seed(seed);
    nn::Sequential model = make_model(name);
    model.to(where);
    return model;
  }

  Tensor step(const data::Example& batch) {
    optimizer.zero_grad();
    Tensor loss = nn::functional::cross_entropy(model(batch[0]), batch[1]);
    loss.backward();
    optimizer.step();
    return loss;
  }
};

struct Outcome {
  double accuracy = 0, images_per_second = 0;
};

// Trains for the epochs that are left; `step` gives the loss of a batch.
template <class Step>
Outcome train(const Arguments& arguments, const std::string& label, Training& t, const data::Dataset& held_out,
              const Step& step) {
  using Clock = std::chrono::steady_clock;
  const int64_t epochs = arguments.count("epochs");
  Checkpoint checkpoint{.model = &t.model, .optimizer = &t.optimizer, .scheduler = &t.scheduler, .loader = &t.loader};
  std::vector<double> speeds;
  for (int64_t epoch = t.loader.epoch(); epoch < epochs; epoch = t.loader.epoch()) {
    t.model.train();
    ProgressBar bar(t.loader.num_batches(),
                    {.label = concat(label, " epoch ", epoch + 1), .quiet = arguments.text("progress") == "off"});
    double total = 0;
    int64_t images = 0;
    const Clock::time_point start = Clock::now();
    for (const data::Example& batch : t.loader) {
      const double loss = step(moved(batch, t.device)).item();
      t.scheduler.step();
      total += loss;
      images += batch[0].size(0);
      bar.update(1, loss);
    }
    bar.finish();
    speeds.push_back(static_cast<double>(images) / std::chrono::duration<double>(Clock::now() - start).count());
    Score score = evaluate(t.model, held_out, t.device);
    std::printf("%s epoch %2lld  training loss %.4f  test loss %.4f  test accuracy %.4f  %.0f images/s\n",
                label.c_str(), static_cast<long long>(epoch + 1), total / static_cast<double>(t.loader.num_batches()),
                score.loss, score.accuracy, speeds.back());
    std::fflush(stdout);
    if (!arguments.text("save").empty()) {
      checkpoint.user.values["model"] = arguments.text("model");
      save_checkpoint(arguments.text("save"), checkpoint);
    }
  }
  std::sort(speeds.begin(), speeds.end());
  return {evaluate(t.model, held_out, t.device).accuracy, speeds.empty() ? 0 : speeds[speeds.size() / 2]};
}

void resume(const Arguments& arguments, Training& t) {
  State user =
      load_checkpoint(arguments.text("resume"),
                      {.model = &t.model, .optimizer = &t.optimizer, .scheduler = &t.scheduler, .loader = &t.loader});
  if (user.get_text("model") != arguments.text("model"))
    fail("the checkpoint holds the model ", user.get_text("model"));
  std::printf("resumed after epoch %lld\n", static_cast<long long>(t.loader.epoch()));
}

int run(const Arguments& arguments) {
  const std::string &name = arguments.text("model"), &mode = arguments.text("mode");
  if (name != "mlp" && name != "cnn") arguments.refuse("--model takes mlp or cnn");
  if (mode != "eager" && mode != "compiled" && mode != "both") arguments.refuse("--mode takes eager, compiled or both");
  const bool resumes = !arguments.text("resume").empty();
  if (mode == "both" && (resumes || !arguments.text("save").empty()))
    arguments.refuse("--save and --resume are for one training; say --mode eager or --mode compiled");
  if (int64_t threads = arguments.integer("threads"); threads > 0) set_num_threads(static_cast<int>(threads));
  const auto seed = static_cast<uint64_t>(arguments.integer("seed"));
  const int64_t epochs = arguments.count("epochs");
  const Device device = find_device(arguments.text("device"));

  fs::path folder = find_data(arguments.text("data"));
  Tensor images = data::read_idx(folder / "digits-images.idx3-ubyte"),
         labels = data::read_idx(folder / "digits-labels.idx1-ubyte");
  Tensor inputs = images.cast(kFloat32).unsqueeze(1) / kBrightest;
  data::TensorDataset digits(inputs, labels.cast(kInt64));
  // The split is the same for every seed, so that accuracies compare.
  int64_t held_out = digits.size() / 5;
  std::vector<data::Subset> parts = data::random_split(digits, {digits.size() - held_out, held_out}, 2024);
  std::printf("%s on %s, %lld training and %lld test images\n%s", name.c_str(), to_string(device).c_str(),
              static_cast<long long>(parts[0].size()), static_cast<long long>(parts[1].size()),
              to_string(make_model(name)).c_str());

  Outcome eager, compiled;
  if (mode != "compiled") {
    Training t(name, parts[0], seed, epochs, device);
    if (resumes) resume(arguments, t);
    eager = train(arguments, "eager", t, parts[1], [&](const data::Example& batch) { return t.step(batch); });
  }
  if (mode != "eager") {
    Training t(name, parts[0], seed, epochs, device);
    if (resumes) resume(arguments, t);
    auto step = compile([&](const data::Example& batch) { return t.step(batch); }, {.name = "digits_step"});
    compiled = train(arguments, "compiled", t, parts[1], step);
    if (compiled.images_per_second > 0) print_summary(step.report(), step.ledger());
  }
  if (mode == "both") {
    std::printf("eager %.0f images/s, compiled %.0f images/s: %.2f times\n", eager.images_per_second,
                compiled.images_per_second, compiled.images_per_second / eager.images_per_second);
    std::printf("test accuracy eager %.4f, compiled %.4f\n", eager.accuracy, compiled.accuracy);
  }
  std::printf("test accuracy %.4f\n", mode == "eager" ? eager.accuracy : compiled.accuracy);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments("train_digits", "trains a classifier of handwritten digits");
  arguments.add("model", "cnn", "mlp or cnn");
  arguments.add("mode", "compiled", "eager, compiled, or both after one another");
  arguments.add("device", "auto", "cpu, cuda, or auto: a GPU where there is one");
  arguments.add("epochs", "20", "passes over the training images");
  arguments.add("seed", "0", "of weights, dropout and order");
  arguments.add("threads", "0", "worker threads, 0 for all cores");
  arguments.add("data", "", "folder of the digits; found in the source tree by default");
  arguments.add("save", "", "writes a checkpoint here after each epoch");
  arguments.add("resume", "", "goes on from this checkpoint");
  arguments.add("progress", "on", "on or off");
  arguments.parse(argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_digits: %s\n", error.what());
    return 1;
  }
}
