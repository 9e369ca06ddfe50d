#include "tools/chaos/jobs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "libdag/client/exit_status.hpp"

namespace dag::chaos {
namespace {

using std::chrono::milliseconds;

constexpr auto stuck_after = std::chrono::seconds(90);
constexpr auto a_moment = milliseconds(300);

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace

double in_milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void report_spread(nlohmann::json& report, const std::string& name, std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  report[name] = {{"count", values.size()},
                  {"p50", percentile(values, 0.5)},
                  {"p99", percentile(values, 0.99)},
                  {"max", values.back()}};
}

void Jobs::begin(std::uint64_t seed, const std::string& address) {
  job_ = std::make_unique<Job>();
  job_->seed = seed;
  job_->plan = plan_of(seed, tasks_);
  const std::string name = "job" + std::to_string(++jobs_);
  job_->ledger = directory_ / (name + ".ledger");
  job_->err = directory_ / (name + ".err");
  const std::filesystem::path out = directory_ / (name + ".out");
  job_->client = std::make_unique<Program>(
      std::vector<std::string>{(programs_ / "dag-chaos-job").string(), std::to_string(seed),
                               std::to_string(tasks_), job_->ledger.string(), "--address", address},
      out, job_->err);
  job_->lines = std::make_unique<Lines>(out);
  job_->moved = Clock::now();
  // Until the job is accepted it may be refused.
  while (job_ && job_->said.job.empty() && !broken()) look_for(milliseconds(5));
}

bool Jobs::getting_on() const {
  if (!job_ || job_->said.settled_at.empty()) return false;
  return Clock::now() - Clock::time_point(Clock::duration(job_->said.settled_at.back())) < a_moment;
}

bool Jobs::waits_since(Clock::time_point then) const {
  return job_ &&
         (job_->said.settled_at.empty() || job_->said.settled_at.back() < then.time_since_epoch().count());
}

Clock::duration Jobs::longest_pause(Clock::time_point since) const {
  std::int64_t last = since.time_since_epoch().count(), longest = 0;
  for (const std::int64_t at : job_->said.settled_at) {
    if (at <= last) continue;
    longest = std::max(longest, at - last);
    last = at;
  }
  return std::max(Clock::duration(longest), Clock::now() - Clock::time_point(Clock::duration(last)));
}

void Jobs::look_for(Clock::duration limit) {
  const auto until = Clock::now() + limit;
  do {
    look();
    std::this_thread::sleep_for(
        std::min<Clock::duration>(milliseconds(5), std::max(until - Clock::now(), Clock::duration{0})));
  } while (Clock::now() < until);
}

void Jobs::finish() {
  while (job_ && !broken()) look_for(milliseconds(50));
}

void Jobs::time_next_outcome(const std::string& name, Clock::time_point since) {
  if (job_) waits_.push_back({name, since});
}

/// Reads the client's new lines.
void Jobs::look() {
  if (!job_) return;
  const bool over = job_->client->ended().has_value();  // Before its last lines are read.
  for (const std::string& line : job_->lines->more()) {
    job_->said.take(line);
    job_->moved = Clock::now();
  }
  note_outcomes();
  if (over) return end();
  if (Clock::now() - job_->moved < stuck_after) return;
  wrong("stuck: seed " + std::to_string(job_->seed) + ", " + std::to_string(job_->said.settled.size()) +
        " of " + std::to_string(job_->plan.size()) + " settled, " + job_->err.string());
  job_.reset();
}

bool Jobs::rest_may_wait_for_leases() const {
  std::vector<bool> waits(job_->plan.size());
  for (std::uint32_t task = 0; task < job_->plan.size(); ++task) {
    if (job_->said.ended(task)) continue;
    const TaskPlan& plan = job_->plan[task];
    // An exclusive task publishes staged files.
    waits[task] = plan.kind == Kind::exclusive || plan.kind == Kind::staged ||
                  plan.kind == Kind::at_most_once ||
                  std::any_of(plan.inputs.begin(), plan.inputs.end(),
                              [&](std::uint32_t input) { return waits[input]; });
    if (!waits[task]) return false;
  }
  return true;
}

void Jobs::note_outcomes() {
  if (!waits_.empty() && rest_may_wait_for_leases()) waits_.clear();
  while (!waits_.empty()) {
    const auto& [name, at] = waits_.front();
    const std::int64_t since = at.time_since_epoch().count();
    const auto& times = job_->said.settled_at;
    const auto next =
        std::find_if(times.begin(), times.end(), [&](std::int64_t then) { return then > since; });
    if (next == times.end()) return;
    const double after_ms = static_cast<double>(*next - since) / 1e6;
    next_outcome_[name].push_back(after_ms);
    if (after_ms > 1000)
      slow_.push_back({{"job", job_->said.job},
                       {"what", name},
                       {"after_ms", after_ms},
                       {"since_s", static_cast<double>(since) / 1e9}});
    waits_.pop_front();
  }
}

void Jobs::end() {
  std::vector<Mark> entered;
  std::ifstream ledger(job_->ledger);
  for (Mark mark; ledger >> mark.task >> mark.value >> mark.from;) entered.push_back(mark);
  std::ifstream twice(job_->ledger.string() + ".twice");
  for (Mark mark; twice >> mark.task >> mark.value >> mark.from;) {
    ++overtaken_;
    if (!stopped_)
      wrong(job_->said.job + ": exclusive, and ran twice at a time: task " + std::to_string(mark.task));
  }
  const int status = *job_->client->ended();
  if (job_->said.job.empty() &&
      (status == exit_unreachable || job_->said.refused)) {  // Nothing was acknowledged.
    ++refused_;
    job_.reset();
    return;
  }
  if (status != 0 || !job_->said.done) {
    std::ifstream err(job_->err);
    wrong("lost: " + job_->said.job + ": its client ended with status " + std::to_string(status) + ": " +
          std::string(std::istreambuf_iterator<char>(err), {}));
  } else {
    for (const std::string& what : check(job_->seed, job_->plan, job_->said, entered))
      wrong(job_->said.job + ": " + what);
  }
  results_ += job_->said.settled.size();
  unknown_ += job_->said.unknown.size();
  waits_.clear();  // The wait ended before there was another.
  job_.reset();
}

void Jobs::report(nlohmann::json& report) const {
  report["jobs"] = jobs_;
  report["results"] = results_;
  report["outcomes_unknown"] = unknown_;
  report["submissions_unanswered"] = refused_;
  if (stopped_) report["overtaken_while_stopped"] = overtaken_;
  report["violations"] = wrong_;
  for (const auto& [name, values] : next_outcome_) report_spread(report, name, values);
  report["slower_than_1_s"] = slow_;
}

}  // namespace dag::chaos
