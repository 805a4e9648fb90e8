// ModuleDict and ParameterList: names, order, sharing and errors.
#include "tests/frontend/layer_values.h"

using namespace fuselet;

TEST_CASE("ModuleDict holds modules under names") {
  nn::ModuleDict<nn::Linear> heads;
  heads.insert("wide", nn::Linear(2, 3)).insert("narrow", nn::Linear(2, 1, false));
  CHECK(parameter_names(heads) == std::vector<std::string>{"wide.weight", "wide.bias", "narrow.weight"});
  CHECK(heads["narrow"](ones({1, 2})).size(1) == 1);
  CHECK(heads.contains("wide"));
  CHECK_FALSE(heads.contains("deep"));
  std::vector<std::string> order;
  for (auto& [name, layer] : heads) order.push_back(name);
  CHECK(order == std::vector<std::string>{"wide", "narrow"});
  nn::ModuleDict<nn::Linear> copy = heads;
  copy.insert("late", nn::Linear(1, 1));
  CHECK(heads.size() == 3);
  CHECK_THROWS_WITH_AS(heads["deep"], "ModuleDict has no module 'deep'", Error);
  CHECK_THROWS_AS(heads.insert("wide", nn::Linear(2, 3)), Error);
  CHECK(heads.size() == 3);
}

TEST_CASE("ParameterList holds parameters under their numbers") {
  nn::ParameterList list({ones({2}), zeros({1})});
  list.push_back(ones({3}));
  CHECK(parameter_names(list) == std::vector<std::string>{"0", "1", "2"});
  CHECK(list.size() == 3);
  CHECK(list[2].requires_grad());
  CHECK(list[2].size(0) == 3);
  CHECK_THROWS_AS(list[3], Error);
  CHECK_THROWS_AS(list.push_back(Tensor()), Error);
}
