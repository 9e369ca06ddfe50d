#include "tools/chaos/node_faults.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace dag::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto outcome_within = seconds(20);
constexpr int submissions_max = 5;
/// Until a process that is stopped for good has gone.
constexpr auto frozen_ends_within = seconds(5);
/// On whatever processors there are; a cycle of theirs is as long.
constexpr int busy_loops = 4;
constexpr auto busy_for = seconds(10);

const char* name(Fault fault) {
  switch (fault) {
    case Fault::kill:
      return "kill";
    case Fault::pause:
      return "pause";
    case Fault::powerfail:
      return "powerfail";
    case Fault::busy:
      return "busy";
  }
  return "";
}

/// Only processes that wait for a paused node miss it: on loopback, after a long time.
std::unique_ptr<Network> network_for(Fault fault, const std::filesystem::path& directory) {
  if (fault != Fault::pause || geteuid() != 0) return nullptr;
  setenv("DAG_BEYOND_LOOPBACK", "1", 1);  // For us and the clients; nobody else is at the switch.
  return std::make_unique<Network>(directory, node_count);
}

ClusterOptions nodes_for(Fault fault, const Network* network, std::mt19937_64& random) {
  ClusterOptions options;
  options.network = network;
  if (fault == Fault::powerfail) options.power_seed = random();
  return options;
}

}  // namespace

NodeFaults::NodeFaults(const Options& options, Fault fault, const std::filesystem::path& directory,
                       const std::filesystem::path& programs)
    : options_(options),
      fault_(fault),
      random_(options.seed),
      network_(network_for(fault, directory)),
      cluster_(directory, programs, nodes_for(fault, network_.get(), random_)),
      jobs_(directory, programs, options.tasks) {
  if (fault == Fault::pause) jobs_.processes_are_stopped();
  if (!cluster_.gather(seconds(60))) throw std::runtime_error("the nodes do not find each other within 60 s");
  for (int i = 0; fault == Fault::busy && i < busy_loops; ++i) {
    busy_loops_.push_back(std::make_unique<Program>(
        std::vector<std::string>{"/bin/sh", "-c", "while :; do :; done"}, "/dev/null", "/dev/null"));
  }
}

Clock::duration NodeFaults::noticed_within() const { return network_ ? seconds(3) : seconds(9); }

void NodeFaults::cycle() {
  if (fault_ == Fault::busy) return look_on();
  if (!jobs_.running()) begin_job();
  // Power may fail right after a job was accepted.
  if (fault_ != Fault::powerfail || below(4) > 0) rest(100, 700);
  const auto at = Clock::now();
  switch (fault_) {
    case Fault::kill:
      kill();
      break;
    case Fault::pause:
      options_.of == "processes" ? pause_process() : pause();
      break;
    case Fault::powerfail:
      fail_power();
      break;
    case Fault::busy:
      break;
  }
  ++cycles_;
  rest(200, 900);
  // So that what follows a kill is not the next one. Every fourth time it is, and meets what the job does to
  // go on; always, and a job that has to wait for the leases of the dead would never be given the time.
  const bool patient = below(4) > 0;
  const auto until = Clock::now() + outcome_within;
  while ((jobs_.waits_for_outcome() || (patient && jobs_.waits_since(at))) && Clock::now() < until)
    jobs_.look_for(milliseconds(5));
  // A node that was taken for dead ends when it learns of it.
  ended_themselves_ += cluster_.start_ended();
}

void NodeFaults::begin_job() {
  for (int tries = 0; !jobs_.running() && !jobs_.broken(); ++tries) {
    if (tries == submissions_max) return jobs_.wrong("stuck: no node takes a job");
    jobs_.begin(random_(), cluster_.address(static_cast<std::uint32_t>(below(node_count))));
  }
}

void NodeFaults::kill() {
  const std::vector<std::uint32_t> victims = choose(true);
  // Else the next outcome waits for what was disturbed before.
  const bool getting_on = jobs_.getting_on();
  std::vector<std::uint32_t> observers = cluster_.who_know(victims.front());
  const auto at = Clock::now();
  for (const std::uint32_t victim : victims) cluster_.kill(victim);
  if (victims.size() == 1) {
    if (!observers.empty()) time_notice(victims.front(), std::move(observers), at);
    if (getting_on)
      jobs_.time_next_outcome(leader_hit_ ? "next_outcome_without_leader_ms" : "next_outcome_ms", at);
  }
  rest(0, 1000);
  for (const std::uint32_t victim : victims) cluster_.start(victim);
  ++disturbed_[victims.size()];
}

void NodeFaults::pause() {
  const std::uint32_t victim = choose(false).front();
  const Clock::duration length = pause_length();
  std::vector<std::uint32_t> observers = cluster_.who_know(victim);
  const auto at = Clock::now();
  cluster_.signal(victim, SIGSTOP);
  // A shorter one may be over before anybody has to notice.
  if (length > noticed_within() && !observers.empty()) time_notice(victim, std::move(observers), at);
  jobs_.look_for(at + length - Clock::now());
  cluster_.signal(victim, SIGCONT);
  ++disturbed_[1];
}

Clock::duration NodeFaults::pause_length() {
  const double length_ms = std::exp(std::uniform_real_distribution<double>(
      std::log(options_.shortest_ms), std::log(options_.longest_ms))(random_));
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(length_ms));
}

/// Half of them for good: these have to go, and their work goes on elsewhere. In both halves all others stay.
void NodeFaults::pause_process() {
  if (!jobs_.running()) return;
  const std::string job = jobs_.number();
  std::vector<pid_t> others;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    for (const pid_t one : cluster_.workers(node, job)) others.push_back(one);
  }
  if (others.empty()) return;  // The job has ended, or has not begun.
  const auto at = others.begin() + static_cast<std::ptrdiff_t>(below(others.size()));
  const pid_t victim = *at;
  others.erase(at);
  const bool for_good = below(2) == 0, getting_on = jobs_.getting_on();
  const auto since = Clock::now();
  ::kill(victim, SIGSTOP);
  if (for_good) {
    if (getting_on) jobs_.time_next_outcome("next_outcome_without_process_ms", since);
    look_for_end_of(victim, since);
    ++stopped_for_good_;
  } else {
    jobs_.look_for(pause_length());
    ::kill(victim, SIGCONT);  // If its node has not ended it.
    ++stopped_for_a_while_;
  }
  look_for_healthy(others, job);
}

void NodeFaults::look_for_end_of(pid_t frozen, Clock::time_point since) {
  while (::kill(frozen, 0) == 0 && Clock::now() < since + frozen_ends_within) jobs_.look_for(milliseconds(5));
  if (::kill(frozen, 0) != 0) return detected_.push_back(in_milliseconds(Clock::now() - since));
  ++unnoticed_;
  jobs_.wrong("a process that was stopped for good is still there: " + std::to_string(frozen));
  ::kill(frozen, SIGKILL);
}

/// A job that has ended lets its processes go, and its client may hear of its end a little later.
void NodeFaults::look_for_healthy(const std::vector<pid_t>& others, const std::string& job) {
  const auto gone = std::find_if(others.begin(), others.end(), [](pid_t one) { return ::kill(one, 0) != 0; });
  if (gone == others.end()) return;
  jobs_.look_for(seconds(1));
  if (jobs_.running() && jobs_.number() == job && jobs_.left() > 0)
    jobs_.wrong("a healthy process of " + job + " was ended: " + std::to_string(*gone));
}

void NodeFaults::time_notice(std::uint32_t victim, std::vector<std::uint32_t> observers,
                             Clock::time_point since) {
  if (const auto noticed = cluster_.noticed(victim, std::move(observers), since, noticed_within()))
    detected_.push_back(in_milliseconds(*noticed));
  else
    ++unnoticed_;
}

/// Every fourth time the next one does not wait until all have come back from this one.
void NodeFaults::fail_power() {
  cluster_.kill_all();
  rest(0, 1000);
  jobs_.wait_no_more();
  for (std::uint32_t node = 0; node < node_count; ++node) cluster_.start(node);
  if (below(4) > 0) jobs_.time_next_outcome("next_outcome_with_power_ms", Clock::now());
  ++disturbed_[node_count];
}

/// Nothing happens to any node, so a report of a loss is wrong.
void NodeFaults::look_on() {
  const auto until = Clock::now() + busy_for;
  while (Clock::now() < until && !jobs_.broken()) {
    if (!jobs_.running()) begin_job();
    jobs_.look_for(std::min<Clock::duration>(seconds(1), until - Clock::now()));
    look_for_false_alarms();
  }
  ++cycles_;
}

void NodeFaults::look_for_false_alarms() {
  for (std::uint32_t node = 0; node < node_count; ++node) {
    for (const std::string& line : cluster_.more_said(node)) {
      if (line.find(" is gone: ") != std::string::npos) jobs_.wrong("taken for dead: " + line);
      if (line.find(" is led here") != std::string::npos && ++led_ > jobs_.begun())
        jobs_.wrong("another node came to lead a job: " + line);
      if (line.find("this node is sick") != std::string::npos) {
        ++sick_;
        jobs_.wrong("n" + std::to_string(node) + " calls itself sick: " + line);
      }
    }
    if (!cluster_.runs(node)) jobs_.wrong("a node ended: " + cluster_.address(node));
    const auto job = jobs_.running() ? cluster_.job_at(node, jobs_.number()) : std::nullopt;
    if (!job || job->phase != JobPhase::running) continue;
    for (const WorkerInfo& worker : job->workers) {
      if (!worker.end.empty())
        jobs_.wrong("a process was taken out of " + jobs_.number() + ": " + worker.end);
    }
  }
}

std::vector<std::uint32_t> NodeFaults::choose(bool several) {
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

std::uint64_t NodeFaults::below(std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
}

void NodeFaults::rest(std::uint64_t from_ms, std::uint64_t to_ms) {
  jobs_.look_for(milliseconds(from_ms + below(to_ms - from_ms + 1)));
}

nlohmann::json NodeFaults::report() const {
  nlohmann::json report{
      {"scenario", name(fault_)},
      {"seed", options_.seed},
      {"cycles", cycles_},
      {"cycles_by_victims", nlohmann::json::object()},
      {"aimed_at_leader", aimed_},
      {"nodes_ended_themselves", ended_themselves_},
      {"failure_rate_below", cycles_ == 0 ? 1.0 : 1 - std::pow(0.05, 1 / static_cast<double>(cycles_))}};
  if (fault_ == Fault::pause) report["on_loopback"] = network_ == nullptr;
  if (fault_ == Fault::pause && options_.of == "processes") {
    report["stopped_for_good"] = stopped_for_good_;
    report["stopped_for_a_while"] = stopped_for_a_while_;
  }
  if (fault_ == Fault::pause || fault_ == Fault::kill) report["not_detected_in_time"] = unnoticed_;
  if (fault_ == Fault::busy) {
    report["leaders_changed"] = led_ - std::min(led_, jobs_.begun());
    report["called_sick"] = sick_;
  }
  for (const auto& [victims, count] : disturbed_)
    report["cycles_by_victims"][std::to_string(victims)] = count;
  report_spread(report, "detected_ms", detected_);
  jobs_.report(report);
  return report;
}

}  // namespace dag::chaos
