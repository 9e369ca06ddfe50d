// train_gpt: trains a small GPT on real text as a task graph (graph.hpp), and reports the result.

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "checkpoint_files.hpp"
#include "graph.hpp"
#include "plot.hpp"
#include "text.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

/// A line per step, on stderr: how far, how fast, how long still.
class Watcher {
 public:
  Watcher(const gpt::Options& options, bool quiet)
      : options_(options),
        quiet_(quiet),
        tokens_per_step_(static_cast<double>(options.replicas) * options.micro_batches * options.model.batch *
                         options.model.context) {}

  void operator()(const dag::JobEvent& event) {
    if (event.kind == dag::JobEvent::Kind::log && event.text.starts_with(gpt::checkpoint_lost)) {
      ++checkpoints_lost_;  // Said also when it is to be quiet.
      std::fprintf(stderr, "%s\n", event.text.c_str());
      return;
    }
    if (quiet_) return;
    if (event.kind != dag::JobEvent::Kind::progress) {
      const std::string& by = event.device.empty() ? event.task : event.device;
      std::fprintf(stderr, "  %s  (%s)\n", event.text.c_str(), by.c_str());
      return;
    }
    if (event.task != "curve") return;
    const double step = event.fraction * options_.steps;
    if (first_step_ == 0) {
      first_step_ = step;
      began_ = Clock::now();
    }
    const double steps = step - first_step_;
    const double seconds = seconds_since(began_);
    if (steps > 0 && seconds > 0) {
      std::fprintf(stderr, "step %3.0f/%u  %s  %6.0f tokens/s  about %.0f s left\n", step, options_.steps,
                   event.text.c_str(), steps * tokens_per_step_ / seconds,
                   seconds / steps * (options_.steps - step));
    } else {
      std::fprintf(stderr, "step %3.0f/%u  %s\n", step, options_.steps, event.text.c_str());
    }
  }

  int checkpoints_lost() const { return checkpoints_lost_; }

 private:
  gpt::Options options_;
  bool quiet_;
  std::atomic<int> checkpoints_lost_{0};
  double tokens_per_step_;
  double first_step_ = 0;
  Clock::time_point began_;
};

struct Wanted {
  gpt::Plan plan;
  std::string text_file;
  std::string plot_file;
  std::string resume_directory;
  bool json = false;
  bool quiet = false;
};

void describe(CLI::App& app, Wanted& wanted) {
  gpt::Options& options = wanted.plan.options;
  app.add_option("--text", wanted.text_file,
                 "train on this file (default: the licence texts that Debian ships)");
  app.add_option("--layers", options.model.layers, "transformer blocks")->capture_default_str();
  app.add_option("--width", options.model.width, "width of the residual stream")->capture_default_str();
  app.add_option("--heads", options.model.heads, "attention heads")->capture_default_str();
  app.add_option("--context", options.model.context, "bytes that a prediction sees")->capture_default_str();
  app.add_option("--batch", options.model.batch, "windows in a micro-batch")->capture_default_str();
  app.add_option("--stages", options.stages, "pipeline stages, each a job actor")->capture_default_str();
  app.add_option("--replicas", options.replicas, "data-parallel copies")->capture_default_str();
  app.add_option("--micro-batches", options.micro_batches, "per replica and step")->capture_default_str();
  app.add_option("--steps", options.steps, "updates of the weights")->capture_default_str();
  app.add_option("--seed", options.seed, "of weights and batches")->capture_default_str();
  app.add_option("--learning-rate", options.peak_learning_rate, "its peak")->capture_default_str();
  app.add_option("--clip", options.gradient_norm_max, "largest norm of a gradient; 0: any")
      ->capture_default_str();
  app.add_option("--evaluate-every", options.evaluate_every, "steps; 0: never")->capture_default_str();
  app.add_option("--patience", options.patience,
                 "evaluations without improvement before the training stops early; 0: never")
      ->capture_default_str();
  app.add_option("--fail-shard", wanted.plan.fail_shard, "let the evaluation of this validation shard fail");
  app.add_option("--checkpoint", wanted.plan.checkpoint_directory, "write checkpoints to this directory");
  app.add_option(
         "--checkpoint-every", wanted.plan.checkpoint_every,
         "steps between two saves of all stages; 0: the best interval by the cost of saves and losses")
      ->capture_default_str();
  app.add_option("--resume", wanted.resume_directory, "resume from the newest checkpoint in this directory");
  app.add_option("--prompt", wanted.plan.sample.prompt, "beginning of the sample of generated text");
  app.add_option("--plot", wanted.plot_file, "write the loss curve as SVG");
  app.add_flag("--json", wanted.json, "print the result as JSON on stdout");
  app.add_flag("--quiet", wanted.quiet, "no line per step");
}

nlohmann::json as_json(const gpt::Trained& trained, double seconds) {
  nlohmann::json json;
  json["seconds"] = seconds;
  json["training_loss"] = trained.curve.training;
  json["validation_step"] = trained.curve.validation_step;
  json["validation_loss"] = trained.curve.validation;
  json["stopped_early"] = trained.curve.stopped_early;
  json["sample"] = trained.sample;
  for (const gpt::StageReport& stage : trained.stages) {
    json["stages"].push_back({{"replica", stage.replica},
                              {"stage", stage.stage},
                              {"device", stage.device},
                              {"forward_seconds", stage.forward},
                              {"backward_input_seconds", stage.backward_input},
                              {"backward_weights_seconds", stage.backward_weights},
                              {"update_seconds", stage.update}});
  }
  return json;
}

void print_for_people(const gpt::Trained& trained, double seconds) {
  const auto& losses = trained.curve.training;
  std::printf("\ntrained %zu steps in %.1f s: loss %.4f -> %.4f%s\n", losses.size(), seconds,
              static_cast<double>(losses.front()), static_cast<double>(losses.back()),
              trained.curve.stopped_early ? " (ended early: validation stopped improving)" : "");
  for (std::size_t i = 0; i < trained.curve.validation.size(); ++i) {
    std::printf("validation after step %u: %.4f\n", trained.curve.validation_step[i] + 1,
                static_cast<double>(trained.curve.validation[i]));
  }
  std::printf("\nwhere the time went, in seconds    forward  backward  weights  update\n");
  for (const gpt::StageReport& stage : trained.stages) {
    std::printf("  replica %u stage %u on %-10s  %8.2f  %8.2f %8.2f %7.2f\n", stage.replica, stage.stage,
                stage.device.c_str(), stage.forward, stage.backward_input, stage.backward_weights,
                stage.update);
  }
  std::printf("\nwhat it writes now:\n%s\n", trained.sample.c_str());
}

void write_plot(const std::string& file, const gpt::Curve& curve) {
  gpt::Plot plot;
  plot.title = "train_gpt: loss by step";
  for (std::size_t i = 0; i < curve.training.size(); ++i) {
    plot.training.push_back({static_cast<double>(i + 1), static_cast<double>(curve.training[i])});
  }
  for (std::size_t i = 0; i < curve.validation.size(); ++i) {
    plot.validation.push_back({curve.validation_step[i] + 1.0, static_cast<double>(curve.validation[i])});
  }
  std::ofstream out(file);
  out << gpt::to_svg(plot);
  out.flush();
  if (!out) throw std::runtime_error("cannot write the plot to " + file);
}

int run(int argc, char** argv) {
  dag::Session session(argc, argv);
  Wanted wanted;
  CLI::App app("Trains a small GPT on real text as a graph of tasks.", "train_gpt");
  describe(app, wanted);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  gpt::Plan& plan = wanted.plan;
  if (!plan.checkpoint_directory.empty() && plan.checkpoint_every == 0) {
    std::cerr << "train_gpt: --checkpoint needs --checkpoint-every to be more than 0\n";
    return 2;
  }

  const auto text = wanted.text_file.empty() ? gpt::load_licences() : gpt::load_text(wanted.text_file);
  if (!plan.checkpoint_directory.empty() && wanted.resume_directory.empty() &&
      !gpt::checkpoint_steps(plan.checkpoint_directory).empty()) {
    throw std::invalid_argument(
        "'" + plan.checkpoint_directory +
        "' holds checkpoints of an earlier run: give --resume with it, or another directory");
  }
  std::optional<gpt::Resumed> resumed;
  if (!wanted.resume_directory.empty()) {
    std::vector<std::string> skipped;
    resumed = gpt::read_resumed(wanted.resume_directory, plan, skipped);
    for (const std::string& why : skipped) std::fprintf(stderr, "skipped a checkpoint: %s\n", why.c_str());
    std::fprintf(stderr, "going on after step %zu\n", resumed->curve.training.size());
  }

  dag::Graph graph("train_gpt");
  const auto trained = gpt::add_training(graph, plan, text, resumed);
  const auto watcher = std::make_shared<Watcher>(plan.options, wanted.quiet);
  session.on_event([watcher](const dag::JobEvent& event) { (*watcher)(event); });
  const auto began = Clock::now();
  const dag::Job job = session.submit(graph);
  const gpt::Trained result = job.get(trained);
  const double seconds = seconds_since(began);
  job.wait();  // A checkpoint may still be being written.
  if (!wanted.plot_file.empty()) write_plot(wanted.plot_file, result.curve);
  if (wanted.json) {
    std::cout << as_json(result, seconds).dump(2) << '\n';
  } else {
    print_for_people(result, seconds);
  }
  if (watcher->checkpoints_lost() == 0) return 0;
  std::fprintf(stderr, "train_gpt: trained to the end, but %d checkpoints could not be written\n",
               watcher->checkpoints_lost());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "train_gpt: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_gpt: %s\n", error.what());
    return 1;
  }
}
