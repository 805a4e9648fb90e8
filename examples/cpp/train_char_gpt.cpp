// Trains a small GPT to continue text character by character, its step compiled or eager, then prints a sample. The
// text is this project's own sources, or any UTF-8 file.
#include <fuselet/compile.h>
#include <fuselet/fuselet.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "examples/cpp/arguments.h"
#include "examples/cpp/print_summary.h"

namespace fs = std::filesystem;
using namespace fuselet;

namespace {

struct Sizes {
  int64_t vocabulary, context, width, heads, layers;
  double dropout;
};

// x: (B, T, C) to the same; place t sees the places up to t.
struct CausalSelfAttention : nn::Module {
  int64_t heads;
  nn::Linear query_key_value, output;
  nn::Dropout dropout;
  Tensor future;  // (T, T), true where the key comes after the query

  explicit CausalSelfAttention(const Sizes& s)
      : Module("CausalSelfAttention"),
        heads(s.heads),
        query_key_value(register_module("query_key_value", nn::Linear(s.width, 3 * s.width))),
        output(register_module("output", nn::Linear(s.width, s.width))),
        dropout(register_module("dropout", nn::Dropout(s.dropout))),
        future(arange(s.context).unsqueeze(0) > arange(s.context).unsqueeze(1)) {}

  Tensor forward(const Tensor& x) override {
    int64_t batch = x.size(0), length = x.size(1), width = x.size(2), head_width = width / heads;
    // (3, B, H, T, D)
    Tensor all = query_key_value(x).view({batch, length, 3, heads, head_width}).permute({2, 0, 3, 1, 4});
    Tensor query = all[0], key = all[1], value = all[2];
    Tensor scores = matmul(query, key.transpose(-2, -1)) * (1 / std::sqrt(static_cast<double>(head_width)));
    Tensor hidden = future.narrow(0, 0, length).narrow(1, 0, length);
    Tensor weights = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(-1);
    Tensor mixed = matmul(dropout(weights), value).transpose(1, 2).reshape({batch, length, width});
    return output(mixed);
  }
};

struct Block : nn::Module {
  nn::LayerNorm before_attention, before_mlp;
  CausalSelfAttention attention;
  nn::Sequential mlp;

  explicit Block(const Sizes& s)
      : Module("Block"),
        before_attention(register_module("before_attention", nn::LayerNorm({s.width}))),
        before_mlp(register_module("before_mlp", nn::LayerNorm({s.width}))),
        attention(register_module("attention", CausalSelfAttention(s))),
        mlp(register_module("mlp", nn::Sequential(nn::Linear(s.width, 4 * s.width), nn::GELU(),
                                                  nn::Linear(4 * s.width, s.width), nn::Dropout(s.dropout)))) {}

  Tensor forward(const Tensor& x) override {
    Tensor y = x + attention(before_attention(x));
    return y + mlp(before_mlp(y));
  }
};

// tokens: (B, T) int64; logits: (B, T, V)
struct CharGpt : nn::Module {
  Sizes sizes;
  nn::Embedding characters, places;
  nn::ModuleList<Block> blocks;
  nn::LayerNorm last_norm;
  nn::Linear head;

  explicit CharGpt(const Sizes& s)
      : Module("CharGpt"),
        sizes(s),
        characters(register_module("characters", nn::Embedding(s.vocabulary, s.width))),
        places(register_module("places", nn::Embedding(s.context, s.width))),
        blocks(register_module("blocks", nn::ModuleList<Block>())),
        last_norm(register_module("last_norm", nn::LayerNorm({s.width}))),
        head(register_module("head", nn::Linear(s.width, s.vocabulary, false))) {
    for (int64_t i = 0; i < s.layers; ++i) blocks.push_back(Block(s));
    apply([](nn::Module& m) {
      if (m.kind() == "Linear" || m.kind() == "Embedding") nn::init::normal_(m.parameter("weight"), 0, 0.02);
      if (m.kind() == "Linear" && m.parameter("bias").defined()) nn::init::zeros_(m.parameter("bias"));
    });
    head.set_parameter("weight", characters.weight());
  }

  Tensor forward(const Tensor& tokens) override {
    Tensor x = characters(tokens) + places(arange(tokens.size(1)));
    for (Block& block : blocks) x = block(x);
    return head(last_norm(x));
  }

  Tensor loss(const data::Example& batch) {
    return nn::functional::cross_entropy((*this)(batch[0]).view({-1, sizes.vocabulary}), batch[1].view({-1}));
  }
};

// The sources in alphabetical order, so that the text is the same everywhere.
std::string own_sources() {
  std::error_code ignored;
  for (fs::path start : {fs::current_path(), fs::read_symlink("/proc/self/exe", ignored).parent_path()}) {
    for (fs::path root = start; root != root.root_path() && !root.empty(); root = root.parent_path()) {
      if (!fs::exists(root / "core/ops/generate.py")) continue;
      std::vector<fs::path> files;
      for (const char* folder : {"core", "autograd", "compiler", "backends", "frontend/cpp"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
          if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") files.push_back(entry.path());
        }
      }
      std::sort(files.begin(), files.end());
      std::string text;
      for (const fs::path& file : files) text += data::read_file(file);
      return text;
    }
  }
  fail("the project's sources were not found near the program; name a text with --text");
}

// Continues `prompt`, drawing each character from the model's distribution at the given temperature.
std::string sample(CharGpt& model, const data::CharVocabulary& vocabulary, const std::string& prompt, int64_t length,
                   double temperature) {
  NoGradGuard no_grad;
  model.eval();
  std::vector<double> start = vocabulary.encode(prompt).to_vector();
  std::vector<int64_t> tokens(start.begin(), start.end());
  for (int64_t i = 0; i < length; ++i) {
    size_t seen = std::min(tokens.size(), static_cast<size_t>(model.sizes.context));
    std::vector<int64_t> window(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end());
    Tensor logits = model(from_vector(window).unsqueeze(0))[0][-1];
    std::vector<double> probabilities = (logits / temperature).softmax(0).to_vector();
    double left = rand({}, kFloat64).item();
    size_t next = 0;
    while (next + 1 < probabilities.size() && (left -= probabilities[next]) >= 0) ++next;
    tokens.push_back(static_cast<int64_t>(next));
  }
  return vocabulary.decode(from_vector(tokens));
}

// The mean over windows spread evenly through the held-out text.
double held_out_loss(CharGpt& model, const data::TextWindows& windows) {
  constexpr int64_t kWindows = 64;
  NoGradGuard no_grad;
  model.eval();
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < kWindows; ++i) chosen.push_back(i * windows.size() / kWindows);
  return model.loss(windows.get_batch(chosen)).item();
}

int run(const Arguments& arguments) {
  const std::string& mode = arguments.text("mode");
  if (mode != "eager" && mode != "compiled") arguments.refuse("--mode takes eager or compiled");
  if (int64_t threads = arguments.integer("threads"); threads > 0) set_num_threads(static_cast<int>(threads));
  uint64_t seed = static_cast<uint64_t>(arguments.integer("seed"));
  int64_t steps = arguments.count("steps"), context = arguments.count("context");
  if (arguments.count("width") % arguments.count("heads") != 0)
    arguments.refuse("--width " + arguments.text("width") + " is no multiple of --heads " + arguments.text("heads"));
  std::string prompt = arguments.text("prompt");
  if (prompt.empty()) arguments.refuse("--prompt needs at least one character");
  manual_seed(seed);

  std::string text = arguments.text("text").empty() ? own_sources() : data::read_file(arguments.text("text"));
  data::CharVocabulary vocabulary(text);
  Tensor tokens = vocabulary.encode(text);
  vocabulary.encode(prompt);  // said before the training rather than after it
  int64_t cut = tokens.size(0) * 9 / 10;
  data::TextWindows training(tokens.slice(0, 0, cut), context), held_out(tokens.slice(0, cut), context);
  data::DataLoader loader(training,
                          {.batch_size = arguments.count("batch"), .shuffle = true, .seed = seed, .drop_last = true});

  CharGpt model({.vocabulary = vocabulary.size(),
                 .context = context,
                 .width = arguments.count("width"),
                 .heads = arguments.count("heads"),
                 .layers = arguments.count("layers"),
                 .dropout = arguments.real("dropout")});
  // Vectors (biases and norms) do not decay.
  optim::Group<optim::AdamWOptions> matrices{{},
                                             {.lr = arguments.real("lr"), .betas = {0.9, 0.98}, .weight_decay = 0.1}},
      vectors = matrices;
  vectors.options.weight_decay = 0;
  int64_t parameters = 0;
  for (const Tensor& p : model.parameters()) {
    (p.dim() >= 2 ? matrices : vectors).parameters.push_back(p);
    parameters += p.numel();
  }
  optim::AdamW optimizer({matrices, vectors});
  optim::LambdaLR scheduler(optimizer, [steps](int64_t step) {
    constexpr double kWarmup = 50, kLeast = 0.1;
    double along = static_cast<double>(step) / static_cast<double>(steps);
    double cosine = kLeast + (1 - kLeast) * 0.5 * (1 + std::cos(std::numbers::pi * std::min(along, 1.0)));
    return std::min((static_cast<double>(step) + 1) / kWarmup, 1.0) * cosine;
  });
  std::printf("%lld characters of %lld kinds, %lld parameters\n", static_cast<long long>(tokens.size(0)),
              static_cast<long long>(vocabulary.size()), static_cast<long long>(parameters));

  Checkpoint checkpoint{.model = &model, .optimizer = &optimizer, .scheduler = &scheduler, .loader = &loader};
  int64_t step = 0;
  if (!arguments.text("resume").empty()) {
    State user = load_checkpoint(arguments.text("resume"), checkpoint);
    if (user.get_text("characters") != vocabulary.characters())
      fail("the checkpoint was trained on a text of other characters");
    step = user.get_int("step");
    std::printf("resumed after step %lld\n", static_cast<long long>(step));
  }
  auto save = [&] {
    if (arguments.text("save").empty()) return;
    checkpoint.user.set_int("step", step);
    checkpoint.user.values["characters"] = vocabulary.characters();
    save_checkpoint(arguments.text("save"), checkpoint);
  };

  auto train_on = [&](const data::Example& batch) {
    optimizer.zero_grad();
    Tensor loss = model.loss(batch);
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    return loss;
  };
  auto compiled = compile(train_on, {.name = "gpt_step"});

  int64_t report_every = arguments.count("report");
  ProgressBar bar(steps - step, {.label = "training", .unit = "step", .quiet = arguments.text("progress") == "off"});
  while (step < steps) {
    for (const data::Example& batch : loader) {
      model.train();
      const double loss = (mode == "compiled" ? compiled(batch) : train_on(batch)).item();
      scheduler.step();
      ++step;
      bar.update(1, loss);
      if (step % report_every == 0 || step == steps) {
        std::printf("step %5lld  training loss %.4f  held-out loss %.4f\n", static_cast<long long>(step), loss,
                    held_out_loss(model, held_out));
        std::fflush(stdout);
        save();
      }
      if (step == steps) break;
    }
  }
  bar.finish();
  if (mode == "compiled" && compiled.ledger().compiled > 0) print_summary(compiled.report(), compiled.ledger());
  std::printf("--- sample ---\n%s\n",
              sample(model, vocabulary, prompt, arguments.integer("sample"), arguments.real("temperature")).c_str());
  std::printf("held-out loss %.4f\n", held_out_loss(model, held_out));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments("train_char_gpt", "trains a small GPT on text, character by character");
  arguments.add("text", "", "a UTF-8 file; by default the project's own sources");
  arguments.add("mode", "compiled", "eager or compiled");
  arguments.add("steps", "600", "training steps in all");
  arguments.add("batch", "16", "windows a step");
  arguments.add("context", "64", "characters the model sees");
  arguments.add("width", "96", "of the embeddings");
  arguments.add("heads", "4", "of each attention");
  arguments.add("layers", "3", "blocks");
  arguments.add("dropout", "0", "probability");
  arguments.add("lr", "0.003", "peak learning rate");
  arguments.add("seed", "0", "of weights, dropout, order and sample");
  arguments.add("threads", "0", "worker threads, 0 for all cores");
  arguments.add("report", "100", "steps between reports and checkpoints");
  arguments.add("save", "", "writes checkpoints here");
  arguments.add("resume", "", "goes on from this checkpoint");
  arguments.add("prompt", "namespace fuselet {\n", "start of the sample");
  arguments.add("sample", "400", "characters to sample");
  arguments.add("temperature", "0.8", "of the sample");
  arguments.add("progress", "on", "on or off");
  arguments.parse(argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_char_gpt: %s\n", error.what());
    return 1;
  }
}
