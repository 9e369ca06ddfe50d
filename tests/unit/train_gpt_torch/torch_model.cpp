#include "tests/unit/train_gpt_torch/torch_model.hpp"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "examples/train_gpt/parameters.hpp"

namespace gpt::test {
namespace {

namespace F = torch::nn::functional;

torch::Tensor indices(std::span<const std::uint8_t> bytes, torch::IntArrayRef shape) {
  const std::vector<std::int64_t> wide(bytes.begin(), bytes.end());
  return torch::tensor(wide, torch::kInt64).reshape(shape);
}

std::vector<double> values_of(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.detach().contiguous();
  const double* at = dense.data_ptr<double>();
  return {at, at + dense.numel()};
}

torch::optim::AdamOptions adam_options() {
  const AdamRates rates;
  return torch::optim::AdamOptions()
      .betas({static_cast<double>(rates.first), static_cast<double>(rates.second)})
      .eps(static_cast<double>(rates.epsilon));
}

}  // namespace

struct TorchModel::Parts {
  Config config;
  std::vector<Parameter> table;
  std::map<std::string, torch::Tensor> leaves;  ///< by parameter name
  std::unique_ptr<torch::optim::Adam> adam;

  const torch::Tensor& at(const std::string& name) const { return leaves.at(name); }

  torch::Tensor norm(const std::string& name, const torch::Tensor& input) const {
    const auto options =
        F::LayerNormFuncOptions({config.width}).weight(at(name + ".gain")).bias(at(name + ".bias")).eps(1e-5);
    return F::layer_norm(input, options);
  }

  /// Torch keeps a linear layer's weights as [outputs, inputs].
  torch::Tensor linear(const std::string& name, const torch::Tensor& input) const {
    return F::linear(input, at(name + ".weights").t(), at(name + ".bias"));
  }

  /// [windows, time, 3 * width] -> [windows, time, width]
  torch::Tensor attention(const torch::Tensor& mixed) const {
    const std::int64_t windows = mixed.size(0);
    const std::int64_t time = mixed.size(1);
    const std::int64_t depth = config.width / config.heads;
    const auto by_head = [&](const torch::Tensor& columns) {
      return columns.reshape({windows, time, config.heads, depth}).transpose(1, 2);
    };
    const std::vector<torch::Tensor> parts = mixed.chunk(3, -1);
    const torch::Tensor scores = torch::matmul(by_head(parts[0]), by_head(parts[1]).transpose(2, 3)) /
                                 std::sqrt(static_cast<double>(depth));
    const torch::Tensor later = torch::ones({time, time}, torch::kBool).triu(1);
    const torch::Tensor masked = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
    const torch::Tensor attended = torch::matmul(torch::softmax(masked, -1), by_head(parts[2]));
    return attended.transpose(1, 2).reshape({windows, time, config.width});
  }

  /// [windows, context, vocabulary]
  torch::Tensor logits(const Batch& batch) const {
    torch::Tensor stream =
        F::embedding(indices(batch.tokens, {batch.rows, config.context}), at("embedding.token")) +
        at("embedding.position");
    for (std::uint32_t block = 0; block < config.layers; ++block) {
      const std::string name = "block" + std::to_string(block) + ".";
      const torch::Tensor mixed = linear(name + "mix", norm(name + "norm1", stream));
      stream = stream + linear(name + "project", attention(mixed));
      const torch::Tensor hidden = linear(name + "expand", norm(name + "norm2", stream));
      const torch::Tensor activated = F::gelu(hidden, F::GELUFuncOptions().approximate("tanh"));
      stream = stream + linear(name + "contract", activated);
    }
    return linear("head", norm("final", stream));
  }

  /// Element by element into one array, in the table's order.
  template <class Pick>
  std::vector<double> flat(Pick pick) const {
    std::vector<double> all;
    for (const Parameter& parameter : table) {
      const std::vector<double> values = values_of(pick(at(parameter.name)));
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
};

TorchModel::TorchModel(const Config& config, const Tensor& weights) : parts_(std::make_unique<Parts>()) {
  torch::set_num_threads(1);  // As our own products: other tests run at the same time.
  parts_->config = config;
  parts_->table = stage_parameters(config, {0, 1});
  std::vector<torch::Tensor> leaves;
  for (const Parameter& parameter : parts_->table) {
    const auto from = weights.values.begin() + static_cast<std::ptrdiff_t>(parameter.offset);
    const std::vector<double> exact(from, from + static_cast<std::ptrdiff_t>(parameter.size()));
    torch::Tensor leaf = torch::tensor(exact, torch::kFloat64);
    if (parameter.extent.rows > 1)
      leaf = leaf.reshape({static_cast<std::int64_t>(parameter.extent.rows),
                           static_cast<std::int64_t>(parameter.extent.columns)});
    leaf.set_requires_grad(true);
    leaves.push_back(leaf);
    parts_->leaves.emplace(parameter.name, leaf);
  }
  parts_->adam = std::make_unique<torch::optim::Adam>(leaves, adam_options());
}

TorchModel::~TorchModel() = default;

std::vector<double> TorchModel::logits(const Batch& batch) const { return values_of(parts_->logits(batch)); }

double TorchModel::loss_and_backward(std::span<const Batch> batches) {
  parts_->adam->zero_grad();
  torch::Tensor loss = torch::zeros({}, torch::kFloat64);
  for (const Batch& batch : batches) {
    const torch::Tensor logits = parts_->logits(batch).flatten(0, 1);
    loss =
        loss + F::cross_entropy(logits, indices(batch.targets, {-1})) / static_cast<double>(batches.size());
  }
  loss.backward();
  return loss.item<double>();
}

std::vector<double> TorchModel::gradients() const {
  return parts_->flat([](const torch::Tensor& leaf) { return leaf.grad(); });
}

void TorchModel::adam_step(float learning_rate) {
  for (torch::optim::OptimizerParamGroup& group : parts_->adam->param_groups())
    group.options().set_lr(static_cast<double>(learning_rate));
  parts_->adam->step();
}

std::vector<double> TorchModel::weights() const {
  return parts_->flat([](const torch::Tensor& leaf) { return leaf; });
}

}  // namespace gpt::test
