// Parameters in other forms: as one vector, and as a length times a direction.
#include "tests/frontend/layer_values.h"

using namespace fuselet;

TEST_CASE("parameters as one vector and back") {
  nn::Linear layer(2, 1);
  fill(layer);
  Tensor vector = nn::utils::parameters_to_vector(layer.parameters());
  CHECK(vector.size(0) == 3);
  nn::utils::vector_to_parameters(tensor({1.0, 2.0, 3.0}), layer.parameters());
  CHECK(layer.weight().to_vector() == std::vector<double>{1, 2});
  CHECK(layer.bias().to_vector() == std::vector<double>{3});
  CHECK_THROWS_AS(nn::utils::vector_to_parameters(tensor({1.0, 2.0}), layer.parameters()), Error);
  CHECK(layer.bias().to_vector() == std::vector<double>{3});
  CHECK_THROWS_AS(nn::utils::parameters_to_vector({}), Error);
}

TEST_CASE("weight_norm makes the weight of a length and a direction") {
  nn::Linear layer(2, 2);
  {
    NoGradGuard no_grad;
    Tensor(layer.weight()).copy_(tensor({{3.0, 4.0}, {0.0, 2.0}}));
    Tensor(layer.bias()).copy_(zeros({2}));
  }
  Tensor x = tensor({{1.0, 1.0}});
  nn::utils::weight_norm(layer);
  CHECK(parameter_names(layer) == std::vector<std::string>{"bias", "weight_g", "weight_v"});
  check_close(layer.parameter("weight_g"), {5, 2});
  check_close(layer(x), {7, 2});
  {
    NoGradGuard no_grad;
    Tensor(layer.parameter("weight_g")).copy_(tensor({{10.0}, {1.0}}));
  }
  check_close(layer(x), {14, 1});
  layer(x).sum().backward();
  check_close(layer.parameter("weight_g").grad(), {1.4, 1});
  // d(g v / |v|) applied to (1, 1): g / |v| ((1, 1) - u (u · (1, 1))) with u = (0.6, 0.8), then u = (0, 1).
  check_close(layer.parameter("weight_v").grad(), {0.32, -0.24, 0.5, 0});
  CHECK_THROWS_AS(nn::utils::weight_norm(layer), Error);
  CHECK_THROWS_AS(layer.register_parameter("weight", ones({1})), Error);
  nn::utils::remove_weight_norm(layer);
  CHECK(parameter_names(layer) == std::vector<std::string>{"bias", "weight"});
  check_close(layer.weight(), {6, 8, 0, 1});
  CHECK(layer.weight().is_leaf());
  check_close(layer(x), {14, 1});
  CHECK_THROWS_WITH_AS(nn::utils::remove_weight_norm(layer),
                       "Linear: the parameter 'weight' is not computed from others", Error);
}

TEST_CASE("weight_norm over all dimensions, and over the second") {
  nn::Linear layer(2, 2, false);
  fill(layer);
  const std::vector<double> before = layer.weight().to_vector();
  nn::utils::weight_norm(layer, "weight", -1);
  CHECK(layer.parameter("weight_g").dim() == 0);
  check_close(layer.weight(), before);
  nn::utils::remove_weight_norm(layer);
  nn::utils::weight_norm(layer, "weight", 1);
  CHECK(to_string(layer.parameter("weight_g").sizes()) == "[1, 2]");
  check_close(layer.weight(), before);
}
