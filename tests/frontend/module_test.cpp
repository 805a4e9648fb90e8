// Modules: names, sharing, state, conversion, and what the layers compute.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cmath>

using namespace fuselet;

namespace {

struct Net : nn::Module {
  nn::Linear hidden = register_module("hidden", nn::Linear(3, 4));
  nn::Linear output = register_module("output", nn::Linear(4, 2, false));
  Tensor scale = register_parameter("scale", ones({2}));
  Tensor count = register_buffer("count", zeros({}, kInt64));
  Net() : Module("Net") {}
  Tensor forward(const Tensor& x) override { return output(relu(hidden(x))) * scale; }
};

std::vector<std::string> names_of(const nn::NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, value] : list) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("parameters are named by path, in registration order") {
  Net net;
  CHECK(names_of(net.named_parameters()) ==
        std::vector<std::string>{"scale", "hidden.weight", "hidden.bias", "output.weight"});
  CHECK(names_of(net.named_buffers()) == std::vector<std::string>{"count"});
  CHECK(net.parameters().size() == 4);
  CHECK(net.modules().size() == 3);
  for (const Tensor& p : net.parameters()) CHECK(p.requires_grad());
  CHECK_FALSE(net.count.requires_grad());
}

TEST_CASE("copies of a module share parameters and the training flag") {
  Net net;
  Net copy = net;
  CHECK(copy.hidden.weight().is_same(net.hidden.weight()));
  copy.eval();
  CHECK_FALSE(net.is_training());
  CHECK_FALSE(net.hidden.is_training());
  net.train();
  CHECK(copy.output.is_training());
}

TEST_CASE("a tied parameter is listed once and gets both gradients") {
  nn::Embedding table(5, 3);
  nn::Linear head(3, 5, false);
  head.set_parameter("weight", table.weight());
  nn::Module both;
  both.register_module("table", table);
  both.register_module("head", head);
  CHECK(names_of(both.named_parameters()) == std::vector<std::string>{"table.weight"});
  head(table(tensor({1, 4}))).sum().backward();
  CHECK(table.weight().grad().defined());
  // A state with the second name alone, or with both, loads as well.
  both.load_state_dict({{"head.weight", ones({5, 3})}});
  CHECK(table.weight().to_vector() == std::vector<double>(15, 1.0));
  CHECK_THROWS_AS(head.set_parameter("weight", ones({3, 5})), Error);
}

TEST_CASE("a module registered twice is visited once") {
  nn::Linear shared(2, 2);
  nn::Sequential twice(shared, nn::ReLU(), shared);
  CHECK(twice.parameters().size() == 2);
  int visits = 0;
  twice.apply([&](nn::Module& m) { visits += m.kind() == "Linear"; });
  CHECK(visits == 1);
}

TEST_CASE("names and structure are checked") {
  nn::Module m("Block");
  m.register_parameter("w", ones({1}));
  CHECK_THROWS_WITH_AS(m.register_buffer("w", ones({1})), "Block: the name 'w' is taken", Error);
  CHECK_THROWS_AS(m.register_parameter("a.b", ones({1})), Error);
  CHECK_THROWS_AS(m.register_parameter("", ones({1})), Error);
  CHECK_THROWS_AS(m.parameter("nothing"), Error);
  CHECK_THROWS_AS(m.register_module("self", m), Error);
  Tensor leaf = ones({1}).requires_grad_();
  CHECK_THROWS_AS(m.register_parameter("computed", leaf * 2), Error);
  CHECK_THROWS_AS(m(ones({1})), Error);
}

TEST_CASE("load_state_dict checks everything before it copies anything") {
  Net net;
  std::vector<double> before = net.scale.to_vector();
  nn::NamedTensors good;
  for (const auto& [name, value] : net.state_dict()) good.emplace_back(name, full_like(value, 7));

  nn::NamedTensors missing(good.begin(), good.end() - 1);
  CHECK_THROWS_WITH_AS(net.load_state_dict(missing), doctest::Contains("missing: count"), Error);
  nn::NamedTensors unexpected = good;
  unexpected.emplace_back("extra", ones({1}));
  CHECK_THROWS_WITH_AS(net.load_state_dict(unexpected), doctest::Contains("unexpected: extra"), Error);
  nn::NamedTensors shape = good;
  shape[3].second = ones({2, 5});
  CHECK_THROWS_WITH_AS(net.load_state_dict(shape), doctest::Contains("output.weight: shape [2, 5] does not fit [2, 4]"),
                       Error);
  nn::NamedTensors dtype = good;
  dtype[0].second = ones({2}, kInt64);
  CHECK_THROWS_WITH_AS(net.load_state_dict(dtype), doctest::Contains("scale: dtype int64"), Error);
  nn::NamedTensors twice = good;
  twice.push_back(good[0]);
  CHECK_THROWS_WITH_AS(net.load_state_dict(twice), doctest::Contains("given twice: scale"), Error);
  CHECK(net.scale.to_vector() == before);

  net.load_state_dict(good);
  CHECK(net.scale.to_vector() == std::vector<double>{7, 7});
  CHECK(net.count.item_int() == 7);
  CHECK(net.scale.requires_grad());
  // Not strict: what fits by name is copied, other names do not matter.
  net.load_state_dict({{"scale", zeros({2})}, {"other", ones({1})}}, false);
  CHECK(net.scale.to_vector() == std::vector<double>{0, 0});
}

TEST_CASE("to(dtype) keeps the tensors' identity and leaves integers alone") {
  Net net;
  Tensor weight = net.hidden.weight();
  net.to(kFloat64);
  CHECK(weight.is_same(net.hidden.weight()));
  CHECK(weight.dtype() == kFloat64);
  CHECK(weight.requires_grad());
  CHECK(net.count.dtype() == kInt64);
  CHECK(net(ones({1, 3}, kFloat64)).dtype() == kFloat64);
  CHECK_THROWS_AS(net.to(kInt32), Error);
}

TEST_CASE("layers start as documented and depend on the seed") {
  manual_seed(3);
  nn::Linear a(16, 64);
  manual_seed(3);
  nn::Linear b(16, 64);
  CHECK(a.weight().to_vector() == b.weight().to_vector());
  nn::Linear c(16, 64);
  CHECK(c.weight().to_vector() != b.weight().to_vector());
  double most = 0;
  for (double v : a.weight().to_vector()) most = std::max(most, std::fabs(v));
  CHECK(most <= 0.25);
  CHECK(most > 0.23);
  nn::Embedding e(4, 3, {.padding_idx = -1});
  CHECK(e.weight()[3].to_vector() == std::vector<double>{0, 0, 0});
}

TEST_CASE("initialisers fill in place with the stated spread") {
  manual_seed(0);
  Tensor w = empty({100, 50}, kFloat64).requires_grad_();
  auto largest = [&] {
    double most = 0;
    for (double v : w.to_vector()) most = std::max(most, std::fabs(v));
    return most;
  };
  nn::init::kaiming_uniform_(w);
  CHECK(largest() == doctest::Approx(std::sqrt(6.0 / 50)).epsilon(0.01));
  nn::init::xavier_uniform_(w);
  CHECK(largest() == doctest::Approx(std::sqrt(6.0 / 150)).epsilon(0.01));
  nn::init::normal_(w, 1, 2);
  double sum = 0, squares = 0;
  for (double v : w.to_vector()) {
    sum += v;
    squares += (v - 1) * (v - 1);
  }
  CHECK(sum / 5000 == doctest::Approx(1).epsilon(0.1));
  CHECK(squares / 5000 == doctest::Approx(4).epsilon(0.1));
  CHECK(nn::init::ones_(w).to_vector()[7] == 1);
  CHECK(w.is_leaf());
  CHECK(w.requires_grad());
  CHECK_THROWS_AS(nn::init::xavier_uniform_(empty({3})), Error);
}

TEST_CASE("layers compute what their operators do") {
  nn::Linear linear(2, 1);
  linear.load_state_dict({{"weight", tensor({{2.0, 3.0}})}, {"bias", tensor({1.0})}});
  CHECK(linear(tensor({{1.0, 1.0}, {0.0, 2.0}})).to_vector() == std::vector<double>{6, 7});
  CHECK(nn::Sequential(linear, nn::ReLU())(tensor({{-1.0, -1.0}})).to_vector() == std::vector<double>{0});
  nn::Conv2d conv(1, 1, {2, 1}, {.stride = {1, 2}, .padding = {1, 0}, .bias = false});
  conv.load_state_dict({{"weight", tensor({{{{1.0}, {10.0}}}})}});
  Tensor y = conv(tensor({{{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}}}));
  CHECK(to_string(y.sizes()) == "[1, 1, 3, 2]");
  CHECK(y.to_vector() == std::vector<double>{10, 30, 41, 63, 4, 6});
  CHECK(nn::MaxPool2d(2)(tensor({{{{1.0, 2.0}, {4.0, 3.0}}}})).to_vector() == std::vector<double>{4});
  CHECK(to_string(nn::Flatten()(zeros({2, 3, 4})).sizes()) == "[2, 12]");
  CHECK(nn::Softmax(-1)(tensor({{0.0, 0.0}})).to_vector() == std::vector<double>{0.5, 0.5});
  std::vector<double> normed = nn::LayerNorm({2}, {.eps = 0})(tensor({{1.0, 3.0}})).to_vector();
  CHECK(normed[0] == doctest::Approx(-1));
  CHECK(normed[1] == doctest::Approx(1));
  CHECK(nn::MSELoss()(tensor({1.0, 2.0}), tensor({3.0, 2.0})).item() == 2);
  CHECK_THROWS_AS(nn::MSELoss()(tensor({{1.0}, {2.0}}), tensor({1.0, 2.0})), Error);
  CHECK(nn::CrossEntropyLoss()(tensor({{0.0, 0.0}}), tensor({1})).item() == doctest::Approx(std::log(2)));
}

TEST_CASE("dropout acts while training only") {
  nn::Dropout dropout(0.5);
  Tensor x = ones({1000});
  dropout.eval();
  CHECK(dropout(x).to_vector() == x.to_vector());
  dropout.train();
  int zeroed = 0;
  for (double v : dropout(x).to_vector()) {
    CHECK((v == 0 || v == 2));
    zeroed += v == 0;
  }
  CHECK(zeroed > 400);
  CHECK(zeroed < 600);
}

TEST_CASE("the padding row gets no gradient and is returned as stored") {
  nn::Embedding table(5, 2, {.padding_idx = 0});
  nn::init::ones_(table.weight());
  Tensor rows = table(tensor({{3, 3, 0, 2, 0}}));
  CHECK(rows.to_vector() == std::vector<double>(10, 1.0));
  rows.sum().backward();
  CHECK(table.weight().grad().to_vector() == std::vector<double>{0, 0, 0, 0, 1, 1, 2, 2, 0, 0});
}

TEST_CASE("two backwards without zeroing give twice the gradient of one") {
  Net net;
  Tensor x = tensor({{1.0, -2.0, 0.5}});
  net(x).sum().backward();
  std::vector<std::vector<double>> once;
  for (const Tensor& p : net.parameters()) once.push_back(p.grad().to_vector());
  net(x).sum().backward();
  size_t k = 0;
  for (const Tensor& p : net.parameters()) {
    std::vector<double> twice = p.grad().to_vector();
    for (size_t i = 0; i < twice.size(); ++i) CHECK(twice[i] == 2 * once[k][i]);
    ++k;
  }
  net.zero_grad(false);
  CHECK(net.scale.grad().to_vector() == std::vector<double>{0, 0});
  net.zero_grad();
  CHECK_FALSE(net.scale.grad().defined());
}

TEST_CASE("values from nested lists") {
  CHECK(tensor({{1, 2}, {3, 4}}).dtype() == kInt64);
  CHECK(tensor({1, 2.5}).dtype() == kFloat32);
  CHECK(tensor({true, false}).dtype() == kBool);
  CHECK(tensor(2.0).dim() == 0);
  CHECK(to_string(tensor({{1, 2, 3}}).sizes()) == "[1, 3]");
  CHECK_THROWS_AS(tensor({{1, 2}, {3}}), Error);
  CHECK_THROWS_AS(from_vector(std::vector<float>{1, 2, 3}, {2, 2}), Error);
  std::vector<double> memory = {1, 2, 3};
  bool released = false;
  {
    Tensor shared = from_blob(memory.data(), {3}, kFloat64, [&] { released = true; });
    memory[1] = 9;
    CHECK(shared.to_vector() == std::vector<double>{1, 9, 3});
  }
  CHECK(released);
}
