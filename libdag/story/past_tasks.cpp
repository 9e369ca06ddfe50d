#include "libdag/story/past_tasks.hpp"

#include <algorithm>

namespace dag::detail {
namespace {

/// The attempt that the event names; made by the first event that names it.
PastAttempt& attempt_of(PastTask& task, const JournalEntry& entry) {
  for (PastStep& step : task.steps) {
    if (step.attempt && step.attempt->id == entry.record.attempt) return *step.attempt;
  }
  PastAttempt attempt{entry.record.attempt, entry.record.place.process};
  attempt.number = task.charged + 1;
  task.steps.push_back({entry.unix_ns, std::move(attempt), {}});
  return *task.steps.back().attempt;
}

std::string end_text(Outcome outcome, const std::string& error) {
  return std::string(name(outcome)) + (error.empty() ? "" : ": " + error);
}

std::string why_text(const std::string& rule) {
  if (rule == "short") return "chosen: too short to be worth sending elsewhere";
  if (rule == "inputs here") return "chosen: its inputs are there, and a lane was free";
  return "chosen: earliest estimated finish";
}

/// Adds an event that belongs to no attempt.
void note(PastTask& task, const JournalEntry& entry, const std::string& text) {
  task.steps.push_back({entry.unix_ns, std::nullopt, text});
}

struct Told {
  PastTask& task;
  const JournalEntry& entry;
  const std::string& line;

  void operator()(const event::Ready&) const {
    if (!task.ready_unix_ns) task.ready_unix_ns = entry.unix_ns;
  }
  void operator()(const event::Settled& settled) const {
    task.settled_unix_ns = entry.unix_ns;
    task.settled = settled;
  }
  void operator()(const event::Placed& placed) const {
    PastAttempt& attempt = attempt_of(task, entry);
    attempt.at = placed.chosen;
    attempt.why_there = why_text(placed.rule);
    attempt.candidates = placed.candidates;
  }
  void operator()(const event::Lent& lent) const { attempt_of(task, entry).at = lent.runner; }
  void operator()(const event::Stolen& stolen) const {
    attempt_of(task, entry).why_there =
        "stolen from " + to_string(stolen.victim.process) + " by this idle process";
  }
  void operator()(const event::Started&) const {
    PastAttempt& attempt = attempt_of(task, entry);
    attempt.at = entry.record.place.process;
    if (!attempt.began_unix_ns) attempt.began_unix_ns = entry.unix_ns;
  }
  void operator()(const event::InputsCame&) const { attempt_of(task, entry); }
  void operator()(const event::Ran& ran) const { came_back(ran.ran, end_text(ran.outcome, ran.error)); }
  void operator()(const event::Became& became) const {
    came_back(became.ran, "became task " + to_string(became.tail));
  }
  void operator()(const event::Ended& ended) const {
    if (!entry.record.attempt) return note(task, entry, line);
    PastAttempt& attempt = attempt_of(task, entry);
    if (attempt.end.empty()) attempt.end = end_text(ended.outcome, ended.error);
    if (!attempt.ran && ended.ran > Duration{0}) attempt.ran = ended.ran;
  }
  void operator()(const event::Lost& lost) const { attempt_of(task, entry).end = "lost: " + lost.why; }
  void operator()(const event::Returned& back) const {
    attempt_of(task, entry).end = "given back unrun: " + back.why;
  }
  void operator()(const event::Cancelled& cancelled) const {
    if (!entry.record.attempt) return note(task, entry, line);
    attempt_of(task, entry).end = "cancelled: " + cancelled.why;
  }
  /// Names no attempt. The crashed attempt is the last one that has not ended.
  void operator()(const event::Crashed& crashed) const {
    ++task.charged;
    const auto last = std::find_if(task.steps.rbegin(), task.steps.rend(),
                                   [](const PastStep& step) { return step.attempt.has_value(); });
    if (last == task.steps.rend() || !last->attempt->end.empty()) return note(task, entry, line);
    last->attempt->end = "crashed its process: " + crashed.what;
  }
  void operator()(const event::Retried& retried) const {
    if (retried.charged) ++task.charged;
    note(task, entry, line);
  }
  /// All else is told in its own words.
  template <class What>
  void operator()(const What&) const {
    note(task, entry, line);
  }

 private:
  void came_back(Duration ran, std::string end) const {
    PastAttempt& attempt = attempt_of(task, entry);
    attempt.at = entry.record.place.process;
    attempt.lane = entry.record.place.lane;
    attempt.ran = ran;
    attempt.began_unix_ns = entry.unix_ns - ran.count();
    // An end that the home or the process reported before counts: the attempt may have been lost meanwhile.
    if (attempt.end.empty()) attempt.end = std::move(end);
  }
};

}  // namespace

void PastTasks::add(const JournalEntry& entry, const JournalLine& line) {
  if (!line.task || is_log(entry.record.what)) return;
  auto found = tasks_.find(*line.task);
  if (found == tasks_.end()) {
    if (tasks_.size() >= tasks_max_) {
      beyond_.insert(*line.task);
      return;
    }
    found = tasks_.emplace(*line.task, PastTask{*line.task, {}, {}, {}, {}, {}, 0}).first;
  }
  PastTask& task = found->second;
  if (task.name.empty()) task.name = line.name;
  std::visit(Told{task, entry, line.what}, entry.record.what);
}

std::vector<PastTask> PastTasks::tasks() const {
  std::vector<PastTask> all;
  for (const auto& [id, task] : tasks_) all.push_back(task);
  return all;
}

}  // namespace dag::detail
