#include "tools/chaos/training.hpp"

#include <time.h>

#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tools/chaos/steps_again.hpp"

namespace dag::chaos {
namespace {

constexpr std::uint32_t nodes = 3;
constexpr auto training_stuck_after = std::chrono::seconds(90);
constexpr auto training_looked_at_every = std::chrono::milliseconds(5);

/// As journals tell time.
std::int64_t unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A run of the program.
class Training {
 public:
  Training(const TrainingOptions& options, const std::filesystem::path& directory,
           const std::filesystem::path& programs, const std::string& name, const std::string& address)
      : out_(directory / (name + ".out")), err_(directory / (name + ".err")), lines_(err_) {
    std::vector<std::string> words{
        (programs / "train_gpt").string(), "--json", "--steps=" + std::to_string(options.steps),
        "--checkpoint-every=" + std::to_string(options.save_every), "--evaluate-every=0"};
    if (!address.empty()) words.insert(words.end(), {"--address", address});
    program_ = std::make_unique<Program>(words, out_, err_);
  }

  bool ended() { return program_->ended().has_value(); }
  /// New steps in the training's output, in their order: "step 17/400 ...".
  std::vector<std::uint32_t> more_steps() {
    std::vector<std::uint32_t> steps;
    for (const std::string& line : lines_.more()) {
      unsigned step = 0;
      if (std::sscanf(line.c_str(), "step %u/", &step) == 1) steps.push_back(step);
    }
    return steps;
  }
  /// Waits for its end. Throws when it failed.
  nlohmann::json losses() {
    if (const int status = program_->wait(); status != 0)
      throw std::runtime_error("train_gpt ended with status " + std::to_string(status) + ": " +
                               err_.string());
    return nlohmann::json::parse(std::ifstream(out_)).at("training_loss");
  }

 private:
  const std::filesystem::path out_, err_;
  Lines lines_;
  std::unique_ptr<Program> program_;
};

}  // namespace

nlohmann::json disturb_training(const TrainingOptions& options, const std::filesystem::path& directory,
                                const std::filesystem::path& programs) {
  const nlohmann::json undisturbed = Training(options, directory, programs, "undisturbed", "").losses();
  ClusterOptions cluster_options;
  cluster_options.nodes = nodes;
  cluster_options.journal_runs = true;
  Cluster cluster(directory, programs, cluster_options);
  if (!cluster.gather(std::chrono::seconds(60)))
    throw std::runtime_error("the nodes do not find each other within 60 s");
  Training training(options, directory, programs, "disturbed", cluster.address(0));
  std::vector<std::string> wrong;
  std::vector<double> pauses_ms;
  std::vector<std::int64_t> kills_unix_ns;
  std::uint32_t step = 0;
  auto moved = Clock::now(), killed = moved;
  bool went_on = false;  // A step was said, after the last kill if there was one.
  while (!training.ended() && wrong.empty()) {
    const auto now = Clock::now();
    for (const std::uint32_t said : training.more_steps()) {
      moved = now;
      if (!std::exchange(went_on, true) && !kills_unix_ns.empty())
        pauses_ms.push_back(in_milliseconds(now - killed));
      step = said;
    }
    if (now - moved > training_stuck_after) wrong.push_back("stuck: after step " + std::to_string(step));
    // Each kill shows what it costs, so the next one waits until the training has gone on.
    if (went_on && now - killed > std::chrono::seconds(options.every)) {
      if (const auto leader = cluster.leader()) {
        killed = Clock::now();
        kills_unix_ns.push_back(unix_ns());
        cluster.kill(*leader);
        went_on = false;
      }
    }
    cluster.start_ended();
    std::this_thread::sleep_for(training_looked_at_every);
  }
  if (wrong.empty()) {
    try {
      if (training.losses() != undisturbed)
        wrong.push_back("the losses are not those of the undisturbed run");
    } catch (const std::exception& problem) {
      wrong.push_back(std::string("lost: ") + problem.what());
    }
  }
  cluster.stop_all();  // The journals then have the last records of processes.
  const std::vector<double> again = steps_again(cluster.data_directories(), kills_unix_ns, options.steps);
  nlohmann::json report{{"scenario", "train"},
                        {"steps", options.steps},
                        {"save_every", options.save_every},
                        {"kills", kills_unix_ns.size()},
                        {"violations", wrong}};
  report_spread(report, "steps_again", again);
  report_spread(report, "next_step_ms", pauses_ms);
  return report;
}

}  // namespace dag::chaos
