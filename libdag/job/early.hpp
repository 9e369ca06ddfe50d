#pragma once
// Messages of jobs that this process does not know: a job's other processes may be faster than its cell,
// which sends the plan of the job. They were acknowledged, so none is dropped while its job may still come.
//
// The waiting ends: the cell tells a process of its job, or that it may ask for it (message::AskPlan), before
// it tells the others of the process, so the job is known here in a moment, and its messages go to its door
// (door.hpp). Messages of a job that is over are not put here. Those left are of jobs whose cell was lost
// before it could say more; if too many jobs wait, the one that has waited longest is of this kind, and is
// given up.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/job/messages.hpp"

namespace dag {

class EarlyMessages {
 public:
  using Messages = std::vector<std::pair<Life, JobMessage>>;
  /// Limit of waiting jobs. Messages per job have none: its cell is alive, or nothing more is sent.
  static constexpr std::size_t jobs_max = 1000;

  /// Gives back the job that was given up for it, if one was.
  std::optional<JobId> hold(Life from, JobMessage message) {
    const JobId id = job_of(message);
    const auto [at, is_new] = jobs_.try_emplace(id);
    if (is_new) at->second.since = ++begun_;
    at->second.messages.emplace_back(from, std::move(message));
    if (jobs_.size() <= jobs_max) return std::nullopt;
    auto oldest = jobs_.begin();
    for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
      if (job->second.since < oldest->second.since) oldest = job;
    }
    const JobId given_up = oldest->first;
    jobs_.erase(oldest);
    return given_up;
  }
  /// True if the cell's leader in that term is to be asked for the plan of the job: once in each term.
  bool asks(JobId job, std::uint32_t term) {
    std::optional<std::uint32_t>& asked = jobs_.at(job).asked_in;
    if (asked && *asked >= term) return false;
    asked = term;
    return true;
  }
  /// In the order they came; they wait here no more.
  Messages take(JobId job) {
    auto waiting = jobs_.extract(job);
    return waiting.empty() ? Messages{} : std::move(waiting.mapped().messages);
  }
  std::size_t jobs() const { return jobs_.size(); }

 private:
  struct Waiting {
    std::uint64_t since = 0;  ///< order of arrival
    std::optional<std::uint32_t> asked_in;
    Messages messages;
  };
  std::map<JobId, Waiting> jobs_;
  std::uint64_t begun_ = 0;
};

}  // namespace dag
