// Trains an MLP or a small CNN on handwritten digits and prints the accuracy on a fifth that it has not seen.
#include <fuselet/fuselet.h>

#include <filesystem>
#include <memory>

#include "examples/cpp/arguments.h"

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

struct Score {
  double loss = 0, accuracy = 0;
};

Score evaluate(nn::Module& model, const data::Dataset& examples) {
  NoGradGuard no_grad;
  model.eval();
  std::vector<int64_t> all = data::permutation(examples.size(), 0);
  data::Example batch = examples.get_batch(all);
  Tensor logits = model(batch[0]);
  double loss = nn::functional::cross_entropy(logits, batch[1]).item();
  double right = (logits.argmax(1) == batch[1]).sum().item();
  return {loss, right / static_cast<double>(examples.size())};
}

int run(const Arguments& arguments) {
  const std::string& name = arguments.text("model");
  if (name != "mlp" && name != "cnn") arguments.refuse("--model takes mlp or cnn");
  if (int64_t threads = arguments.integer("threads"); threads > 0) set_num_threads(static_cast<int>(threads));
  uint64_t seed = static_cast<uint64_t>(arguments.integer("seed"));
  int64_t epochs = arguments.count("epochs");
  manual_seed(seed);

  fs::path folder = find_data(arguments.text("data"));
  Tensor images = data::read_idx(folder / "digits-images.idx3-ubyte"),
         labels = data::read_idx(folder / "digits-labels.idx1-ubyte");
  Tensor inputs = images.cast(kFloat32).unsqueeze(1) / kBrightest;
  data::TensorDataset digits(inputs, labels.cast(kInt64));
  // The split is the same for every seed, so that accuracies compare.
  int64_t held_out = digits.size() / 5;
  std::vector<data::Subset> parts = data::random_split(digits, {digits.size() - held_out, held_out}, 2024);
  data::DataLoader loader(parts[0], {.batch_size = 32, .shuffle = true, .seed = seed, .drop_last = true});

  nn::Sequential model = make_model(name);
  optim::AdamW optimizer(model.parameters(), {.lr = 3e-3});
  optim::CosineAnnealingLR scheduler(optimizer, epochs * loader.num_batches());
  std::printf("%s, %lld training and %lld test images\n%s", name.c_str(), static_cast<long long>(parts[0].size()),
              static_cast<long long>(parts[1].size()), to_string(model).c_str());

  Checkpoint checkpoint{.model = &model, .optimizer = &optimizer, .scheduler = &scheduler, .loader = &loader};
  if (!arguments.text("resume").empty()) {
    State user = load_checkpoint(arguments.text("resume"), checkpoint);
    if (user.get_text("model") != name) fail("the checkpoint holds the model ", user.get_text("model"));
    std::printf("resumed after epoch %lld\n", static_cast<long long>(loader.epoch()));
  }

  for (int64_t epoch = loader.epoch(); epoch < epochs; epoch = loader.epoch()) {
    model.train();
    ProgressBar bar(loader.num_batches(),
                    {.label = concat("epoch ", epoch + 1), .quiet = arguments.text("progress") == "off"});
    double total = 0;
    for (const data::Example& batch : loader) {
      optimizer.zero_grad();
      Tensor loss = nn::functional::cross_entropy(model(batch[0]), batch[1]);
      loss.backward();
      optimizer.step();
      scheduler.step();
      total += loss.item();
      bar.update(1, loss.item());
    }
    bar.finish();
    Score score = evaluate(model, parts[1]);
    std::printf("epoch %2lld  training loss %.4f  test loss %.4f  test accuracy %.4f\n",
                static_cast<long long>(epoch + 1), total / static_cast<double>(loader.num_batches()), score.loss,
                score.accuracy);
    std::fflush(stdout);
    if (!arguments.text("save").empty()) {
      checkpoint.user.values["model"] = name;
      save_checkpoint(arguments.text("save"), checkpoint);
    }
  }
  std::printf("test accuracy %.4f\n", evaluate(model, parts[1]).accuracy);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments("train_digits", "trains a classifier of handwritten digits");
  arguments.add("model", "cnn", "mlp or cnn");
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
