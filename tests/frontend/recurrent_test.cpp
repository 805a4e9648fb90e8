// Recurrent layers against numbers from PyTorch 2.11.0 on the same inputs and parameters.
#include "tests/frontend/layer_values.h"

using namespace fuselet;

TEST_CASE("RNN of two layers in both directions") {
  nn::RNN rnn(2, 2, {.num_layers = 2, .bidirectional = true});
  fill(rnn);
  std::vector<Tensor> states;
  check_close(rnn.forward(wave({3, 1, 2}), states),
              {-0.1902885, 0.9143184, -0.8189678, 0.2446987, 0.4816439, 0.3661318, -0.7663766, 0.4833991, 0.060154,
               0.6284444, -0.6800947, 0.3863084});
  check_close(states[0], {-0.0352241, 0.3480313, 0.7106095, 0.0049822, 0.060154, 0.6284444, -0.8189678, 0.2446987});
  const std::vector<std::string> names = parameter_names(rnn);
  CHECK(names.size() == 16);
  CHECK(names[3] == "bias_hh_l0");
  CHECK(names[4] == "weight_ih_l0_reverse");
  CHECK(names[12] == "weight_ih_l1_reverse");
}

TEST_CASE("RNN with the positive part, without bias and without N") {
  nn::RNN rnn(2, 2, {.bias = false}, "relu");
  fill(rnn);
  std::vector<Tensor> states;
  Tensor out = rnn.forward(wave({3, 2}), states);
  check_close(out, {0.2002261, 0.7610146, 0, 0, 0, 0});
  CHECK(states[0].sizes().size() == 2);
  // From those states on, as in one go.
  Tensor more = rnn.forward(wave({3, 2}), states);
  std::vector<Tensor> none;
  check_close(more, rnn.forward(cat({wave({3, 2}), wave({3, 2})}), none).narrow(0, 3, 3).to_vector());
  CHECK(parameter_names(rnn) == std::vector<std::string>{"weight_ih_l0", "weight_hh_l0"});
}

TEST_CASE("LSTM of two layers in both directions, batch first") {
  nn::LSTM lstm(2, 2, {.num_layers = 2, .batch_first = true, .bidirectional = true});
  fill(lstm);
  std::vector<Tensor> states;
  check_close(lstm.forward(wave({2, 2, 2}), states),
              {0.0257465, -0.0177846, -0.1344525, -0.2309801, 0.0539987, -0.0390275, -0.0713671, -0.1640179, 0.0311293,
               -0.0251525, -0.1383941, -0.2281756, 0.0540741, -0.0429449, -0.0745519, -0.1617798});
  check_close(states[0],
              {-0.1114389, 0.1214752, -0.1801752, 0.2315708, 0.1248888, 0.1023617, 0.205348, 0.1096788, 0.0539987,
               -0.0390275, 0.0540741, -0.0429449, -0.1344525, -0.2309801, -0.1383941, -0.2281756});
  check_close(states[1], {-0.1710624, 0.1559746, -0.2343275, 0.4157796, 0.4747246, 0.4130213, 0.3642413, 0.3087354,
                          0.1869974, -0.1330194, 0.1861765, -0.1485604, -0.546189, -0.6555583, -0.5487405, -0.6654528});
}

TEST_CASE("GRU in both directions from given states") {
  nn::GRU gru(2, 2, {.bidirectional = true});
  fill(gru);
  std::vector<Tensor> states = {wave({2, 1, 2}) * 0.5};
  check_close(gru.forward(wave({2, 1, 2}), states),
              {0.1332062, 0.638271, -0.1210657, 0.5425725, 0.2581994, 0.3224332, 0.0123016, -0.2703368});
  check_close(states[0], {0.2581994, 0.3224332, -0.1210657, 0.5425725});
}

TEST_CASE("dropout between recurrent layers acts while training alone") {
  nn::GRU gru(2, 8, {.num_layers = 2, .dropout = 1});
  nn::GRU whole(2, 8, 2);
  whole.load_state_dict(gru.state_dict());
  Tensor x = wave({3, 1, 2});
  // With all of the first layer's outputs gone, the second layer sees zeros, whatever the input.
  CHECK(gru(x).to_vector() == gru(x * 2).to_vector());
  gru.eval();
  CHECK(gru(x).to_vector() == whole(x).to_vector());
}

TEST_CASE("recurrent layers refuse what does not fit") {
  nn::LSTM lstm(2, 3);
  std::vector<Tensor> one = {zeros({1, 1, 3})}, small = {zeros({1, 1, 3}), zeros({1, 2, 3})};
  CHECK_THROWS_WITH_AS(lstm.forward(wave({2, 1, 2}), one), "LSTM: expected 2 states, got 1", Error);
  CHECK_THROWS_WITH_AS(lstm.forward(wave({2, 1, 2}), small), "LSTM: expected a state of shape [1, 1, 3], got [1, 2, 3]",
                       Error);
  // The caller's states are as they were, without N too.
  std::vector<Tensor> alone = {zeros({1, 3}), zeros({1, 4})};
  CHECK_THROWS_AS(lstm.forward(wave({2, 2}), alone), Error);
  CHECK(to_string(alone[0].sizes()) == "[1, 3]");
  CHECK(to_string(alone[1].sizes()) == "[1, 4]");
  CHECK_THROWS_AS(lstm(wave({2, 2, 2, 2})), Error);
  CHECK_THROWS_AS(nn::RNN(2, 2, {}, "gelu"), Error);
  CHECK_THROWS_AS(nn::GRU(2, 2, {.dropout = 2}), Error);
  CHECK_THROWS_AS(nn::GRU(2, 0), Error);
}
