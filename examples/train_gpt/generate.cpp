#include "generate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpt {

std::uint8_t sample(std::span<const float> logits, float temperature, const Draw& draw) {
  if (logits.empty() || logits.size() > 256)
    throw std::invalid_argument("sample: 1 to 256 logits are needed");
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0.0F) return static_cast<std::uint8_t>(likeliest - logits.begin());
  std::vector<double> powers;
  double all = 0.0;
  for (const float logit : logits) {
    const double above = static_cast<double>(logit) - static_cast<double>(*likeliest);
    powers.push_back(std::exp(above / static_cast<double>(temperature)));
    all += powers.back();
  }
  double left = uniform(draw) * all;
  for (std::size_t token = 0; token < powers.size(); ++token) {
    left -= powers[token];
    if (left < 0.0) return static_cast<std::uint8_t>(token);
  }
  return static_cast<std::uint8_t>(likeliest - logits.begin());  // Rounding ate the last share.
}

std::string generate(std::span<const Stage> stages, const Generation& wanted) {
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].place().index != i || stages[i].place().count != stages.size())
      throw std::invalid_argument("generate: all stages of one model are needed, in order");
  if (stages.empty()) throw std::invalid_argument("generate: there is no model");
  std::string text = wanted.prompt.empty() ? "\n" : wanted.prompt;
  const std::uint64_t stream = stream_of("generate");
  for (std::uint32_t n = 0; n < wanted.bytes; ++n) {
    const std::size_t seen = std::min<std::size_t>(text.size(), stages.front().config().context);
    const std::vector<std::uint8_t> window(text.end() - static_cast<std::ptrdiff_t>(seen), text.end());
    Tensor flow;
    for (const Stage& stage : stages) flow = stage.infer(window, flow);
    text += static_cast<char>(sample(flow.values, wanted.temperature, {wanted.seed, stream, n}));
  }
  return text;
}

std::string printable(std::string text) {
  for (char& letter : text)
    if (letter != '\n' && (letter < ' ' || letter > '~')) letter = '?';
  return text;
}

}  // namespace gpt
