// Every layer's backward against central differences of its forward. The loss is a fixed random weighting of
// the layer's output, so d_output is that weighting and each input's gradient can be probed alone.
#include <catch2/catch.hpp>
#include <functional>

#include "examples/train_gpt/attention.hpp"
#include "examples/train_gpt/layers.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;
using Values = std::vector<float>;

namespace {

double weighted(const Values& output, const Values& weighting) {
  double loss = 0.0;
  for (std::size_t i = 0; i < output.size(); ++i)
    loss += static_cast<double>(output[i]) * static_cast<double>(weighting[i]);
  return loss;
}

/// Probes every element of `values`, which `loss` reads.
void check_gradient(Values& values, const Values& gradient, const std::function<double()>& loss) {
  REQUIRE(values.size() == gradient.size());
  constexpr float step = 1e-2F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float before = values[i];
    values[i] = before + step;
    const float up = values[i];
    const double above = loss();
    values[i] = before - step;
    const float down = values[i];
    const double below = loss();
    values[i] = before;
    const double slope = (above - below) / (static_cast<double>(up) - static_cast<double>(down));
    INFO("element " << i);
    CHECK(static_cast<double>(gradient[i]) == Approx(slope).epsilon(0.01).margin(2e-3));
  }
}

}  // namespace

TEST_CASE("train_gpt: linear, B and W against finite differences") {
  const Extent in{5, 7};
  const Extent out{5, 6};
  Values x = test::noise(35, 1);
  Values w = test::noise(42, 2);
  Values b = test::noise(6, 3);
  const Values d_y = test::noise(30, 4);
  const auto loss = [&] {
    Values y(30);
    linear_forward({{view(std::as_const(w).data(), {7, 6}), b.data()},
                    view(std::as_const(x).data(), in),
                    view(y.data(), out)});
    return weighted(y, d_y);
  };
  Values d_x(35);
  Values d_w(42, 5.0F);  // To be overwritten.
  Values d_b(6, 5.0F);
  linear_backward_input(
      {{view(std::as_const(w).data(), {7, 6}), b.data()}, view(d_y.data(), out), view(d_x.data(), in)});
  linear_backward_weights(
      {{view(d_w.data(), {7, 6}), d_b.data()}, view(std::as_const(x).data(), in), view(d_y.data(), out)});
  check_gradient(x, d_x, loss);
  check_gradient(w, d_w, loss);
  check_gradient(b, d_b, loss);
}

TEST_CASE("train_gpt: layer norm against finite differences") {
  const Extent extent{3, 9};
  Values x = test::noise(27, 1);
  Values gain = test::noise(9, 2);
  Values bias = test::noise(9, 3);
  const Values d_y = test::noise(27, 4);
  Values mean(3);
  Values inverse(3);
  Values y(27);
  const auto loss = [&] {
    norm_forward({{gain.data(), bias.data()},
                  view(std::as_const(x).data(), extent),
                  view(y.data(), extent),
                  mean.data(),
                  inverse.data()});
    return weighted(y, d_y);
  };
  loss();
  Values again(27);
  norm_again({{gain.data(), bias.data()},
              view(std::as_const(x).data(), extent),
              view(again.data(), extent),
              mean.data(),
              inverse.data()});
  CHECK(again == y);
  Values d_x(27, 1.0F);  // Added to.
  Values d_gain(9);
  Values d_bias(9);
  norm_backward({{gain.data(), bias.data()},
                 view(std::as_const(x).data(), extent),
                 mean.data(),
                 inverse.data(),
                 view(d_y.data(), extent),
                 view(d_x.data(), extent),
                 d_gain.data(),
                 d_bias.data()});
  for (float& value : d_x) value -= 1.0F;
  check_gradient(x, d_x, loss);
  check_gradient(gain, d_gain, loss);
  check_gradient(bias, d_bias, loss);
}

TEST_CASE("train_gpt: GELU against finite differences and known values") {
  Values x = test::noise(23, 1);
  for (float& value : x) value *= 4.0F;
  const Extent extent{1, 23};
  const Values d_y = test::noise(23, 2);
  const auto loss = [&] {
    Values y(23);
    gelu_forward(view(std::as_const(x).data(), extent), view(y.data(), extent));
    return weighted(y, d_y);
  };
  Values d_x = d_y;
  gelu_backward(view(std::as_const(x).data(), extent), view(d_x.data(), extent));
  check_gradient(x, d_x, loss);

  const Values known = {0.0F, 1.0F, -1.0F, 3.0F, -50.0F, 50.0F};
  Values y(6);
  gelu_forward(view(known.data(), {1, 6}), view(y.data(), {1, 6}));
  CHECK(y[0] == 0.0F);
  CHECK(y[1] == Approx(0.841192F));
  CHECK(y[2] == Approx(-0.158808F));
  CHECK(y[3] == Approx(2.996363F));
  CHECK(y[4] == Approx(0.0F).margin(1e-30));
  CHECK(y[5] == 50.0F);
}

TEST_CASE("train_gpt: causal attention against finite differences") {
  const AttentionShape shape{.windows = 2, .time = 5, .width = 6, .heads = 2};
  Values mixed = test::noise(10 * 18, 1);
  const Values d_y = test::noise(60, 2);
  Values probabilities(2 * 2 * 5 * 5);
  Values y(60);
  const auto loss = [&] {
    attention_forward(
        {shape, view(std::as_const(mixed).data(), {10, 18}), view(y.data(), {10, 6}), probabilities.data()});
    return weighted(y, d_y);
  };
  loss();
  Values d_mixed(180, 3.0F);
  attention_backward({shape, view(std::as_const(mixed).data(), {10, 18}), probabilities.data(),
                      view(d_y.data(), {10, 6}), view(d_mixed.data(), {10, 18})});
  check_gradient(mixed, d_mixed, loss);
}

TEST_CASE("train_gpt: no position sees a later one, nor another window") {
  const AttentionShape shape{.windows = 2, .time = 5, .width = 6, .heads = 2};
  const auto attended = [&](const Values& mixed) {
    Values probabilities(100);
    Values y(60);
    attention_forward({shape, view(mixed.data(), {10, 18}), view(y.data(), {10, 6}), probabilities.data()});
    return y;
  };
  const Values mixed = test::noise(180, 1);
  const Values before = attended(mixed);
  for (std::size_t changed = 0; changed < 10; ++changed) {
    Values other = mixed;
    for (std::size_t i = 0; i < 18; ++i) other[changed * 18 + i] += 1.0F;
    const Values after = attended(other);
    for (std::size_t row = 0; row < 10; ++row) {
      const bool sees = row / 5 == changed / 5 && row >= changed;
      const bool same = std::equal(&before[row * 6], &before[row * 6] + 6, &after[row * 6]);
      INFO("row " << row << ", changed " << changed);
      CHECK(same != sees);
    }
  }
}

TEST_CASE("train_gpt: embedding and cross entropy against finite differences") {
  const std::vector<std::uint8_t> tokens = {3, 0, 3, 1, 2, 3};
  const std::vector<std::uint8_t> targets = {0, 3, 1, 2, 3, 1};
  Values token = test::noise(4 * 5, 1);
  Values position = test::noise(3 * 5, 2);
  const Values d_y = test::noise(30, 3);
  const auto embedded = [&] {
    Values y(30);
    embedding_forward(
        {{view(std::as_const(token).data(), {4, 5}), view(std::as_const(position).data(), {3, 5})},
         tokens,
         3,
         view(y.data(), {6, 5})});
    return weighted(y, d_y);
  };
  Values d_token(20, 1.0F);
  Values d_position(15, 1.0F);
  embedding_backward(
      {tokens, 3, view(d_y.data(), {6, 5}), view(d_token.data(), {4, 5}), view(d_position.data(), {3, 5})});
  check_gradient(token, d_token, embedded);
  check_gradient(position, d_position, embedded);

  Values logits = test::noise(24, 4);
  const auto entropy = [&] {
    return static_cast<double>(cross_entropy({view(std::as_const(logits).data(), {6, 4}), targets, {}}));
  };
  Values d_logits(24);
  cross_entropy({view(std::as_const(logits).data(), {6, 4}), targets, view(d_logits.data(), {6, 4})});
  check_gradient(logits, d_logits, entropy);

  const Values even(24, 0.5F);
  CHECK(cross_entropy({view(even.data(), {6, 4}), targets, {}}) == Approx(std::log(4.0)));
}

TEST_CASE("train_gpt: layers refuse what does not fit") {
  Values values(24);
  const std::vector<std::uint8_t> tokens = {1, 9};
  CHECK_THROWS_WITH(embedding_forward({{view(std::as_const(values).data(), {4, 2}),
                                        view(std::as_const(values).data(), {3, 2})},
                                       tokens,
                                       2,
                                       view(values.data(), {2, 2})}),
                    Catch::Contains("token 9 in a vocabulary of 4"));
  CHECK_THROWS_AS(cross_entropy({view(std::as_const(values).data(), {6, 4}), tokens, {}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(multiply({.left = view(std::as_const(values).data(), {2, 3}),
                            .right = view(std::as_const(values).data(), {4, 2}),
                            .out = view(values.data(), {2, 2})}),
                  std::invalid_argument);
}
