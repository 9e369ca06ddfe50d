#include "graph.hpp"

#include "checkpoint_files.hpp"

namespace gpt {
namespace {

using dag::Actor;
using dag::Context;
using dag::Output;
using dag::Ref;

/// Shared by all steps: the plan, and the stages by replica, then stage.
struct Pipeline {
  Plan plan;
  std::vector<Actor<StageActor>> stages;

  const Actor<StageActor>& at(std::uint32_t replica, std::uint32_t stage) const {
    return stages[replica * plan.options.stages + stage];
  }
};

using Shards = std::vector<Shard>;

// ---- Kernels
Shard preprocess(const Ref<std::vector<std::uint8_t>>& text, const Cut& cut, std::uint32_t index) {
  return make_shard(*text, cut, index);
}

Batch draw(const Ref<Shards>& shards, const Config& config, const BatchAt& at) {
  return training_batch(*shards, config, at);
}

Tensor sum_gradients(std::vector<Tensor> parts) { return sum_in_order(std::move(parts)); }

Update choose_update(const Options& options, std::uint32_t step,
                     const std::vector<std::vector<double>>& by_stage) {
  std::vector<double> squares;
  for (const auto& stage : by_stage) squares.insert(squares.end(), stage.begin(), stage.end());
  return update_at(options, step, squares);
}

Curve add_loss(Context& context, const Options& options, Curve curve, const std::vector<Tensor>& losses) {
  std::vector<float> values;
  for (const Tensor& loss : losses) values.push_back(loss.values.at(0));
  curve.training.push_back(mean_in_order(values));
  const auto done = static_cast<double>(curve.training.size());
  context.progress(done / options.steps, "loss " + std::to_string(curve.training.back()));
  return curve;
}

float evaluate(const Plan& plan, const Ref<Shards>& shards, std::uint32_t shard,
               const std::vector<Tensor>& weights) {
  if (static_cast<std::int32_t>(shard) == plan.fail_shard) {
    throw std::runtime_error("validation shard " + std::to_string(shard) +
                             " fails, as --fail-shard asked for");
  }
  const Stage model = whole_model(plan.options.model, weights);
  return validation_loss({&model, 1}, shards->at(shard).validation, plan.options.validation_windows);
}

Curve judge(Context& context, const Options& options, Curve curve,
            const std::vector<std::optional<float>>& by_shard) {
  std::vector<float> values;
  for (const auto& loss : by_shard) {
    if (loss) values.push_back(*loss);
  }
  curve.validation_step.push_back(static_cast<std::uint32_t>(curve.training.size() - 1));
  curve.validation.push_back(mean_in_order(values));
  curve.stopped_early = stops_early(curve.validation, options.patience);
  context.log("validation loss " + std::to_string(curve.validation.back()) + " from " +
              std::to_string(values.size()) + " of " + std::to_string(by_shard.size()) + " shards" +
              (curve.stopped_early ? "; no better for a while: training ends early" : ""));
  return curve;
}

Curve whichever(std::optional<Curve> trained_on, std::optional<Curve> stopped) {
  if (trained_on) return *std::move(trained_on);
  if (stopped) return *std::move(stopped);
  throw std::runtime_error("a later step of the training failed");
}

void write_stages(Context& context, const Plan& plan, const Curve& curve,
                  const std::vector<std::vector<std::byte>>& stages) {
  Checkpoint checkpoint;
  checkpoint.job = job_name;
  checkpoint.step = curve.training.size();
  checkpoint.notes["model"] = to_string(plan.options.model);
  checkpoint.notes["stages"] = std::to_string(plan.options.stages);
  const auto as_chunk = [&](std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    checkpoint.chunks.emplace_back(first, first + bytes.size());
  };
  dag::Writer writer;
  dag::encode(writer, curve);
  as_chunk(writer.bytes());
  for (std::uint32_t stage = 0; stage < plan.options.stages; ++stage) as_chunk(stages[stage]);
  try {
    context.log("checkpoint " + write_checkpoint(plan.checkpoint_directory, checkpoint).string());
  } catch (const CheckpointError& error) {
    context.log(checkpoint_lost +
                std::string(error.what()));  // Training goes on without it; the user is told.
    throw;
  }
}

std::string write_sample(const Plan& plan, const std::vector<Tensor>& weights) {
  const Stage model = whole_model(plan.options.model, weights);
  return printable(generate({&model, 1}, plan.sample));
}

// ---- One step's graph

/// Adds F, B and W of every micro-batch of a replica in 1F1B order, which is per stage: as many forwards as
/// there are stages behind it, then one forward, one backward, until all are through. Returns the losses.
std::vector<Output<Tensor>> add_micro_batches(Context& c, const Pipeline& p, const Ref<Shards>& shards,
                                              std::uint32_t step, std::uint32_t replica) {
  const Options& options = p.plan.options;
  const std::uint32_t last = options.stages - 1;
  const std::uint32_t count = options.micro_batches;
  std::vector<Output<Batch>> batches;
  for (std::uint32_t m = 0; m < count; ++m) {
    batches.push_back(c.spawn("draw", draw, shards, options.model, BatchAt{options.seed, step, replica, m}));
  }
  std::vector<std::vector<Output<Tensor>>> forward(options.stages), backward(options.stages);
  const auto add_forward = [&](std::uint32_t stage) {
    const auto m = static_cast<std::uint32_t>(forward[stage].size());
    const auto& actor = p.at(replica, stage);
    if (stage > 0 && forward[stage - 1].size() <= m) return false;
    if (stage == 0) {
      forward[0].push_back(c.call<&StageActor::forward>(actor, m, batches[m], Tensor{}));
    } else {
      forward[stage].push_back(c.call<&StageActor::forward>(actor, m, batches[m], forward[stage - 1][m]));
    }
    return true;
  };
  const auto add_backward = [&](std::uint32_t stage) {
    const auto m = static_cast<std::uint32_t>(backward[stage].size());
    const auto& actor = p.at(replica, stage);
    if (stage == last) {
      if (forward[stage].size() <= m) return false;
      backward[stage].push_back(c.call<&StageActor::backward_input>(actor, m, Tensor{}));
    } else {
      if (backward[stage + 1].size() <= m) return false;
      backward[stage].push_back(c.call<&StageActor::backward_input>(actor, m, backward[stage + 1][m]));
    }
    c.call<&StageActor::backward_weights>(actor, m);
    return true;
  };
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t stage = 0; stage < options.stages; ++stage) {
      const std::size_t ahead = forward[stage].size() - backward[stage].size();
      const bool warm = forward[stage].size() < count && ahead < options.stages - stage;
      if (warm ? add_forward(stage) : backward[stage].size() < count && add_backward(stage)) more = true;
    }
  }
  return forward[last];
}

/// Sums gradients over replicas, chooses the update, applies it everywhere.
void add_update(Context& c, const Pipeline& p, std::uint32_t step) {
  const Options& options = p.plan.options;
  std::vector<Output<Tensor>> sums;
  std::vector<Output<std::vector<double>>> squares;
  for (std::uint32_t stage = 0; stage < options.stages; ++stage) {
    std::vector<Output<Tensor>> parts;
    for (std::uint32_t replica = 0; replica < options.replicas; ++replica) {
      parts.push_back(c.call<&StageActor::gradients>(p.at(replica, stage), options.micro_batches));
    }
    sums.push_back(c.spawn("sum", sum_gradients, parts));
    if (options.gradient_norm_max > 0.0F) {
      squares.push_back(c.call<&StageActor::squared_norms>(p.at(0, stage), sums.back()));
    }
  }
  const auto update = c.spawn("update", choose_update, options, step, squares);
  for (std::uint32_t replica = 0; replica < options.replicas; ++replica) {
    for (std::uint32_t stage = 0; stage < options.stages; ++stage) {
      c.call<&StageActor::apply>(p.at(replica, stage), sums[stage], update);
    }
  }
}

std::vector<Output<Tensor>> add_weights(Context& c, const Pipeline& p) {
  std::vector<Output<Tensor>> weights;
  for (std::uint32_t stage = 0; stage < p.plan.options.stages; ++stage) {
    weights.push_back(c.call<&StageActor::weights>(p.at(0, stage)));
  }
  return weights;
}

void add_checkpoint(Context& c, const Pipeline& p, const Output<Curve>& curve) {
  std::vector<Output<std::vector<std::byte>>> saves;
  for (const auto& stage : p.stages) saves.push_back(c.save(stage));
  if (!p.plan.checkpoint_directory.empty()) {
    saves.resize(p.plan.options.stages, saves.front());  // Replica 0: the others are equal.
    static_cast<void>(c.spawn("checkpoint", write_stages, p.plan, curve, saves).effects(dag::idempotent));
  }
}

/// Runs a step; its output becomes that of the next step, or the final curve.
Output<Curve> train_step(Context& c, const Pipeline& p, const Ref<Shards>& shards, const Curve& before) {
  const Options& options = p.plan.options;
  const auto step = static_cast<std::uint32_t>(before.training.size());
  std::vector<Output<Tensor>> losses;
  for (std::uint32_t replica = 0; replica < options.replicas; ++replica) {
    const auto of_replica = add_micro_batches(c, p, shards, step, replica);
    losses.insert(losses.end(), of_replica.begin(), of_replica.end());
  }
  add_update(c, p, step);
  Output<Curve> curve = c.spawn("curve", add_loss, options, before, losses);
  const bool last = step + 1 >= options.steps;
  const bool evaluates = evaluates_after(options, step);
  if (evaluates) {
    const auto weights = add_weights(c, p);
    std::vector<Output<float>> by_shard;
    for (std::uint32_t shard = 0; shard < shards->size(); ++shard) {
      by_shard.push_back(c.spawn("evaluate", evaluate, p.plan, shards, shard, weights));
    }
    // A single shard may fail and is then left out.
    const auto enough = static_cast<std::uint32_t>(by_shard.size() > 1 ? by_shard.size() - 1 : 1);
    curve = c.spawn("judge", judge, options, curve, dag::quorum(enough, by_shard));
  }
  if (p.plan.checkpoint_every == 0) {
    for (const auto& stage : p.stages) c.save_when_due(stage);
  } else if ((step + 1) % p.plan.checkpoint_every == 0) {
    add_checkpoint(c, p, curve);
  }
  if (last) return curve;
  const auto next = c.spawn("step", train_step, p, shards, curve);
  if (!evaluates) return next;
  next.only_if(curve, [](const Curve& so_far) { return !so_far.stopped_early; });
  const auto stop = c.spawn(
                         "stop", [](const Curve& so_far) { return so_far; }, curve)
                        .only_if(curve, [](const Curve& so_far) { return so_far.stopped_early; });
  return c.spawn("whichever", whichever, dag::maybe(next), dag::maybe(stop));
}

Trained collect(const Curve& curve, const std::string& sample, const std::vector<StageReport>& stages) {
  return {curve, sample, stages};
}

Output<Trained> finish(Context& c, const Pipeline& p, const Curve& curve) {
  const auto sample = c.spawn("sample", write_sample, p.plan, add_weights(c, p));
  std::vector<Output<StageReport>> reports;
  for (const auto& stage : p.stages) reports.push_back(c.call<&StageActor::report>(stage));
  return c.spawn("collect", collect, curve, sample, reports);
}

}  // namespace

dag::Output<Trained> add_training(dag::Graph& graph, const Plan& plan, const std::vector<std::uint8_t>& text,
                                  const std::optional<Resumed>& resumed) {
  check(plan.options);
  const Cut wanted{text.size(), plan.options.shards, plan.options.model.context};
  const Cut cut{text.size(), shards_that_fit(wanted), wanted.context};
  const Ref<std::vector<std::uint8_t>> whole(text);
  std::vector<Output<Shard>> parts;
  for (std::uint32_t shard = 0; shard < cut.shards; ++shard) {
    parts.push_back(graph.task("preprocess", preprocess, whole, cut, shard));
  }
  const auto shards = graph.task(
      "shards", [](Shards all) { return all; }, parts);

  Pipeline pipeline{plan, {}};
  for (std::uint32_t replica = 0; replica < plan.options.replicas; ++replica) {
    for (std::uint32_t stage = 0; stage < plan.options.stages; ++stage) {
      const StageRole role{replica, {stage, plan.options.stages}};
      pipeline.stages.push_back(graph.actor<StageActor>(
          "stage" + std::to_string(replica) + "." + std::to_string(stage), plan.options.model, role,
          plan.options.seed, resumed ? resumed->stages.at(stage) : std::vector<std::byte>{}));
    }
  }
  graph.save_together(pipeline.stages);
  const Curve before = resumed ? resumed->curve : Curve{};
  const bool over = before.training.size() >= plan.options.steps || before.stopped_early;
  const auto curve = over ? graph.task(
                                "train", [](const Curve& done) { return done; }, before)
                          : graph.task("train", train_step, pipeline, shards, before);
  return graph.task("finish", finish, pipeline, curve);
}

Resumed read_resumed(const std::string& directory, const Plan& plan, std::vector<std::string>& skipped) {
  Newest newest = read_newest_checkpoint(directory, job_name);
  skipped = std::move(newest.skipped);
  Checkpoint& checkpoint = newest.checkpoint;
  const std::string model = to_string(plan.options.model);
  const std::string stages = std::to_string(plan.options.stages);
  if (checkpoint.notes["model"] != model || checkpoint.notes["stages"] != stages ||
      checkpoint.chunks.size() != 1 + plan.options.stages) {
    throw CheckpointError("the checkpoint in " + directory + " is of another model: it has " +
                          checkpoint.notes["model"] + " in " + checkpoint.notes["stages"] +
                          " stages, this run wants " + model + " in " + stages + " stages");
  }
  const auto bytes_of = [&](std::size_t chunk) {
    return std::as_bytes(std::span<const std::uint8_t>(checkpoint.chunks[chunk]));
  };
  Resumed resumed;
  dag::Reader reader(bytes_of(0));
  resumed.curve = dag::decode<Curve>(reader);
  for (std::size_t chunk = 1; chunk < checkpoint.chunks.size(); ++chunk) {
    const auto bytes = bytes_of(chunk);
    resumed.stages.emplace_back(bytes.begin(), bytes.end());
  }
  return resumed;
}

}  // namespace gpt
