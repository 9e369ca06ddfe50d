// dag-chaos: real node processes that are killed and paused while jobs run, and an oracle outside.
//
//   dag-chaos kill      [--cycles N] [--seed N] [--json]   kill -9 of one node, two, or all; started again
//   dag-chaos pause     [--cycles N] [--seed N] [--json]   SIGSTOP of a node for 1 ms to 30 s
//   dag-chaos powerfail [--cycles N] [--seed N] [--json]   all nodes at once lose what they have not synced
//
// Half of the cycles of the first two aim at the node that leads a job. Whoever keeps the invariants gives: 0
// results lost, 0 settled twice, 0 stale, 0 stuck. The seed decides what is done, not how threads meet it.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tools/chaos/cluster.hpp"
#include "tools/chaos/oracle.hpp"

namespace dag::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t node_count = 5;
constexpr auto stuck_after = seconds(90);
constexpr auto noticed_within = seconds(3);
constexpr auto outcome_within = seconds(20);
constexpr auto getting_on = milliseconds(300);

double in_milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

struct Options {
  std::uint32_t cycles = 30;
  std::uint64_t seed = 1;
  std::uint32_t tasks = 400;
  std::string directory;
  bool json = false;
};

enum class Fault : std::uint8_t { kill, pause, powerfail };

class Run {
 public:
  Run(const Options& options, Fault fault, std::filesystem::path directory, std::filesystem::path programs)
      : options_(options),
        fault_(fault),
        directory_(std::move(directory)),
        programs_(std::move(programs)),
        random_(options.seed),
        cluster_(directory_, programs_, node_count,
                 fault == Fault::powerfail ? std::optional(random_()) : std::nullopt) {
    if (!cluster_.gather(seconds(60)))
      throw std::runtime_error("the nodes do not find each other within 60 s");
  }

  void kill_cycle() {
    const std::vector<std::uint32_t> victims = choose(true);
    const auto at = Clock::now();
    for (const std::uint32_t victim : victims) cluster_.kill(victim);
    if (victims.size() == 1) {
      // One that had just come may not be known to all, and is then not missed by all.
      if (const auto noticed = cluster_.noticed(victims.front(), at, noticed_within))
        detected_.push_back(in_milliseconds(*noticed));
      // Of a job that was getting on: else the next outcome waits for what was disturbed before.
      if (job_ && !job_->said.settled_at.empty() &&
          at - Clock::time_point(Clock::duration(job_->said.settled_at.back())) < getting_on)
        waits_for_outcome_.push_back({at, leader_hit_});
    }
    rest(0, 1000);
    for (const std::uint32_t victim : victims) cluster_.start(victim);
    ++disturbed_[victims.size()];
  }

  void pause_cycle() {
    const std::uint32_t victim = choose(false).front();
    const double length_ms = std::exp(std::uniform_real_distribution<double>(0, std::log(30'000.0))(random_));
    cluster_.signal(victim, SIGSTOP);
    look_for(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(length_ms)));
    cluster_.signal(victim, SIGCONT);
    ++disturbed_[1];
  }

  /// Some right after a job was accepted, and some while all come back from the one before.
  void power_failure_cycle() {
    cluster_.kill_all();
    rest(0, 1000);
    waits_for_outcome_.clear();
    for (std::uint32_t node = 0; node < node_count; ++node) cluster_.start(node);
    if (job_ && below(4) > 0) waits_for_outcome_.push_back({Clock::now(), true});
    ++disturbed_[node_count];
  }

  void cycle() {
    if (!job_) begin_job();
    if (fault_ != Fault::powerfail || below(4) > 0) rest(100, 700);
    switch (fault_) {
      case Fault::kill:
        kill_cycle();
        break;
      case Fault::pause:
        pause_cycle();
        break;
      case Fault::powerfail:
        power_failure_cycle();
        break;
    }
    ++cycles_;
    rest(200, 900);
    // So that what follows a kill is not the next one.
    const auto until = Clock::now() + outcome_within;
    while (!waits_for_outcome_.empty() && job_ && Clock::now() < until) look_for(milliseconds(5));
    // One that was taken for dead ends when it learns of it.
    for (std::uint32_t node = 0; node < cluster_.size(); ++node) {
      if (!cluster_.runs(node)) {
        ++ended_themselves_;
        cluster_.start(node);
      }
    }
  }

  /// Lets the job that runs come to its end.
  void settle_down() {
    while (job_ && !broken()) rest(50, 50);
  }

  bool broken() const { return !wrong_.empty(); }

  nlohmann::json report() const {
    nlohmann::json report{
        {"scenario", fault_ == Fault::kill    ? "kill"
                     : fault_ == Fault::pause ? "pause"
                                              : "powerfail"},
        {"seed", options_.seed},
        {"cycles", cycles_},
        {"cycles_by_victims", nlohmann::json::object()},
        {"aimed_at_leader", aimed_},
        {"jobs", jobs_},
        {"results", results_},
        {"outcomes_unknown", unknown_},
        {"nodes_ended_themselves", ended_themselves_},
        {"violations", wrong_},
        {"failure_rate_below", cycles_ == 0 ? 1.0 : 1 - std::pow(0.05, 1 / static_cast<double>(cycles_))}};
    for (const auto& [victims, count] : disturbed_)
      report["cycles_by_victims"][std::to_string(victims)] = count;
    const auto spread = [&](const char* name, const std::vector<double>& values) {
      if (values.empty()) return;
      report[name] = {{"count", values.size()},
                      {"p50", percentile(values, 0.5)},
                      {"p99", percentile(values, 0.99)},
                      {"max", percentile(values, 1)}};
    };
    spread("detected_ms", detected_);
    spread("next_outcome_ms", next_outcome_);
    spread(fault_ == Fault::powerfail ? "next_outcome_with_power_ms" : "next_outcome_without_leader_ms",
           next_outcome_of_leader_);
    report["slower_than_1_s"] = slow_;
    return report;
  }

 private:
  struct Job {
    std::uint64_t seed = 0;
    std::vector<TaskPlan> plan;
    std::filesystem::path ledger, err;
    std::unique_ptr<Program> client;
    std::unique_ptr<Lines> lines;
    Said said;
    Clock::time_point moved;  ///< when something was last heard of it
  };

  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
  }

  std::vector<std::uint32_t> choose(bool several) {
    std::vector<std::uint32_t> victims;
    const std::uint64_t draw = several ? below(100) : 0;
    const std::size_t count = draw < 75 ? 1 : draw < 90 ? 2 : node_count;
    const auto leader = cluster_.leader();
    if (leader && below(2) == 0) {
      victims.push_back(*leader);
      ++aimed_;
    }
    while (victims.size() < count) {
      const auto victim = static_cast<std::uint32_t>(below(node_count));
      if (std::find(victims.begin(), victims.end(), victim) == victims.end()) victims.push_back(victim);
    }
    leader_hit_ = leader && std::find(victims.begin(), victims.end(), *leader) != victims.end();
    return victims;
  }

  void begin_job() {
    job_ = std::make_unique<Job>();
    job_->seed = random_();
    job_->plan = plan_of(job_->seed, options_.tasks);
    const std::string name = "job" + std::to_string(++jobs_);
    job_->ledger = directory_ / (name + ".ledger");
    job_->err = directory_ / (name + ".err");
    const std::filesystem::path out = directory_ / (name + ".out");
    job_->client = std::make_unique<Program>(
        std::vector<std::string>{(programs_ / "dag-chaos-job").string(), std::to_string(job_->seed),
                                 std::to_string(options_.tasks), job_->ledger.string(), "--address",
                                 cluster_.address(static_cast<std::uint32_t>(below(node_count)))},
        out, job_->err);
    job_->lines = std::make_unique<Lines>(out);
    job_->moved = Clock::now();
    // Until it is accepted it may be refused.
    while (job_ && job_->said.job.empty() && !broken()) rest(5, 5);
  }

  void rest(std::uint64_t from_ms, std::uint64_t to_ms) {
    look_for(milliseconds(from_ms + below(to_ms - from_ms + 1)));
  }
  void look_for(Clock::duration limit) {
    const auto until = Clock::now() + limit;
    do {
      look();
      std::this_thread::sleep_for(
          std::min<Clock::duration>(milliseconds(5), std::max(until - Clock::now(), Clock::duration{0})));
    } while (Clock::now() < until);
  }

  /// What the client has said since.
  void look() {
    if (!job_) return;
    const bool over = job_->client->ended().has_value();  // Before what it said last is read.
    for (const std::string& line : job_->lines->more()) {
      job_->said.take(line);
      job_->moved = Clock::now();
    }
    while (!waits_for_outcome_.empty()) {
      const auto& [at, of_leader] = waits_for_outcome_.front();
      const std::int64_t since = at.time_since_epoch().count();
      const auto& times = job_->said.settled_at;
      const auto next =
          std::find_if(times.begin(), times.end(), [&](std::int64_t then) { return then > since; });
      if (next == times.end()) break;
      const double after_ms = static_cast<double>(*next - since) / 1e6;
      (of_leader ? next_outcome_of_leader_ : next_outcome_).push_back(after_ms);
      if (after_ms > 1000)
        slow_.push_back({{"job", job_->said.job},
                         {"leader", of_leader},
                         {"after_ms", after_ms},
                         {"killed_at_s", static_cast<double>(since) / 1e9}});
      waits_for_outcome_.pop_front();
    }
    if (over) return end_job();
    if (Clock::now() - job_->moved < stuck_after) return;
    wrong_.push_back("stuck: seed " + std::to_string(job_->seed) + ", " +
                     std::to_string(job_->said.settled.size()) + " of " + std::to_string(job_->plan.size()) +
                     " settled, " + job_->err.string());
    job_.reset();
  }

  void end_job() {
    std::vector<Mark> entered;
    std::ifstream ledger(job_->ledger);
    for (Mark mark; ledger >> mark.task >> mark.value >> mark.from;) entered.push_back(mark);
    const int status = *job_->client->ended();
    if (status != 0 || !job_->said.done) {
      std::ifstream err(job_->err);
      wrong_.push_back("lost: " + job_->said.job + ": its client ended with status " +
                       std::to_string(status) + ": " + std::string(std::istreambuf_iterator<char>(err), {}));
    } else {
      for (std::string& what : check(job_->seed, job_->plan, job_->said, entered))
        wrong_.push_back(job_->said.job + ": " + what);
    }
    results_ += job_->said.settled.size();
    unknown_ += job_->said.unknown.size();
    waits_for_outcome_.clear();  // It ended before there was another.
    job_.reset();
  }

  const Options options_;
  const Fault fault_;
  const std::filesystem::path directory_, programs_;
  std::mt19937_64 random_;
  Cluster cluster_;
  std::unique_ptr<Job> job_;
  std::uint64_t cycles_ = 0, aimed_ = 0, jobs_ = 0, results_ = 0, unknown_ = 0, ended_themselves_ = 0;
  std::map<std::size_t, std::uint64_t> disturbed_;
  std::vector<std::string> wrong_;
  bool leader_hit_ = false;
  std::deque<std::pair<Clock::time_point, bool>> waits_for_outcome_;  ///< kills; whether of a leader's node
  std::vector<double> detected_, next_outcome_, next_outcome_of_leader_;
  nlohmann::json slow_ = nlohmann::json::array();
};

void print(const nlohmann::json& report) {
  std::cout << report["cycles"] << " cycles (" << report["aimed_at_leader"] << " aimed at a leader), "
            << report["jobs"] << " jobs, " << report["results"] << " results checked, "
            << report["outcomes_unknown"] << " outcomes of at_most_once unknown\n";
  for (const char* name :
       {"detected_ms", "next_outcome_ms", "next_outcome_without_leader_ms", "next_outcome_with_power_ms"}) {
    if (!report.contains(name)) continue;
    std::cout << name << ": p50 " << report[name]["p50"] << ", p99 " << report[name]["p99"] << ", max "
              << report[name]["max"] << " (" << report[name]["count"] << ")\n";
  }
  for (const auto& wrong : report["violations"])
    std::cout << "VIOLATION " << wrong.get<std::string>() << '\n';
  if (report["violations"].empty())
    std::cout << "no violation; failures per cycle are below " << report["failure_rate_below"]
              << " with 95 %\n";
}

int run(const Options& options, Fault fault) {
  std::string directory = options.directory;
  if (directory.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "dag-chaos-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a directory for temporary files");
    directory = name;
  }
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  nlohmann::json report;
  bool failed = true;
  {
    Run run(options, fault, std::filesystem::absolute(directory), programs);
    for (std::uint32_t cycle = 0; cycle < options.cycles && !run.broken(); ++cycle) {
      run.cycle();
      if (isatty(STDERR_FILENO))
        std::cerr << "\r" << cycle + 1 << " of " << options.cycles << " cycles " << std::flush;
    }
    run.settle_down();
    if (isatty(STDERR_FILENO)) std::cerr << '\n';
    failed = run.broken();
    report = run.report();
  }
  if (failed || !options.directory.empty()) {
    report["directory"] = directory;
    std::cerr << "dag-chaos: logs and ledgers lie in " << directory << '\n';
  } else {
    std::filesystem::remove_all(directory);
  }
  if (options.json) {
    std::cout << report.dump() << '\n';
  } else {
    print(report);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace dag::chaos

int main(int argc, char** argv) {
  CLI::App app(
      "kills and pauses real nodes while jobs run, or takes their power, and checks what the jobs' clients "
      "were told");
  dag::chaos::Options options;
  dag::chaos::Fault fault{};
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* about, dag::chaos::Fault what) {
    auto* command = app.add_subcommand(name, about);
    command->add_option("--cycles", options.cycles, "how often")->capture_default_str();
    command->add_option("--seed", options.seed, "of what is done when")->capture_default_str();
    command->add_option("--tasks", options.tasks, "of each job")
        ->capture_default_str()
        ->check(CLI::Range(20u, 100'000u));
    command->add_option("--directory", options.directory,
                        "for logs and ledgers, which stay (default: one that goes)");
    command->add_flag("--json", options.json, "the report as JSON");
    command->callback([&fault, what] { fault = what; });
  };
  add("kill", "kill -9 of one node, of two, or of all five; they are started again", dag::chaos::Fault::kill);
  add("pause", "stops a node for 1 ms to 30 s, then lets it go on", dag::chaos::Fault::pause);
  add("powerfail", "all five lose their power at once: what they have not synced, or a part of it, is lost",
      dag::chaos::Fault::powerfail);
  CLI11_PARSE(app, argc, argv);
  try {
    return dag::chaos::run(options, fault);
  } catch (const std::exception& problem) {
    std::cerr << "dag-chaos: " << problem.what() << '\n';
    return 2;
  }
}
