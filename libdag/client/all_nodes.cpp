#include "libdag/client/all_nodes.hpp"

#include <algorithm>

#include "libdag/graph/text.hpp"

namespace dag::detail {
namespace {

/// With its leader's counts of tasks, unless another node leads the job by now.
JobInfo in_full(Cluster& leader, JobInfo job) {
  try {
    return leader.jobs(job.job).front();
  } catch (const Failure&) {
    return job;
  }
}

/// Weight of a node's word about a job: the leader's first, then that of a node that knows its end.
int weight(const JobInfo& job) {
  if (!job.copies.empty()) return 3;
  if (has_ended(job.phase)) return 2;
  return job.phase == JobPhase::recovering ? 0 : 1;
}

void add(Seen& seen, JobInfo job, ProcessId said_by) {
  const auto [leader, is_new] = seen.leaders.try_emplace(job.job, said_by);
  if (is_new) return seen.jobs.push_back(std::move(job));
  JobInfo& known = *std::find_if(seen.jobs.begin(), seen.jobs.end(),
                                 [&](const JobInfo& one) { return one.job == job.job; });
  if (weight(job) <= weight(known)) return;
  leader->second = said_by;
  known = std::move(job);
}

}  // namespace

AllNodes::AllNodes(const std::string& address, Duration answers_within) : answers_within_(answers_within) {
  auto first = connect(address, std::min(connect_within_default, answers_within_), answers_within_);
  const std::string own_word = first->nodes().front().endpoint.control;
  links_[own_word] = std::move(first);
  known_ = {own_word};
}

Cluster& AllNodes::at(const std::string& address) {
  std::unique_ptr<Cluster>& link = links_[address];
  if (!link) link = connect(address, std::min(connect_within_default, answers_within_), answers_within_);
  return *link;
}

std::vector<NodeInfo> AllNodes::nodes_of_any() {
  std::optional<Failure> last;
  for (const std::string& address : known_) {
    try {
      return at(address).nodes();
    } catch (const Failure& failure) {
      links_.erase(address);
      last = failure;
    }
  }
  throw *last;
}

JobInfo AllNodes::job(JobId job, const Seen& seen) {
  const auto leader = seen.leaders.find(job);
  if (leader == seen.leaders.end()) {
    throw Failure({ErrorCode::job_unknown, "no node that answers leads " + to_string(job),
                   "old jobs are dropped from memory; see `dag history`"});
  }
  const auto node = std::find_if(seen.nodes.begin(), seen.nodes.end(),
                                 [&](const NodeInfo& one) { return one.life.process == leader->second; });
  const auto known =
      std::find_if(seen.jobs.begin(), seen.jobs.end(), [&](const JobInfo& one) { return one.job == job; });
  // Without a leader no node can be asked, and a look must not wait for an election.
  if (known->phase == JobPhase::no_quorum || known->phase == JobPhase::recovering) return *known;
  return at(node->endpoint.control).jobs(job).front();
}

Seen AllNodes::look(std::size_t stages, const JobFilter& which) {
  Seen seen;
  seen.nodes = nodes_of_any();
  std::map<ProcessId, std::vector<NodeInfo>> said{{seen.nodes.front().life.process, seen.nodes}};
  std::vector<std::string> there;
  for (std::size_t i = 0; i < seen.nodes.size(); ++i) {
    NodeInfo& node = seen.nodes[i];
    if (!is_up(node.state)) continue;
    const std::string address = node.endpoint.control, name = to_string(node.life.process);
    there.push_back(address);
    try {
      if (i > 0) {
        std::vector<NodeInfo>& answer = said[node.life.process] = at(address).nodes();
        node = answer.front();
      }
      std::uint64_t beyond = 0;
      for (JobInfo& job : at(address).jobs(which, beyond)) {
        if (job.phase == JobPhase::running && stages > 0) {
          --stages;
          job = in_full(at(address), std::move(job));
        }
        add(seen, std::move(job), node.life.process);
      }
      seen.jobs_beyond += beyond;
    } catch (const Failure& failure) {
      links_.erase(address);
      seen.missing.push_back(name + ": " + printable(failure.error().what));
    }
  }
  if (seen.missing.size() == there.size()) {
    throw Failure({ErrorCode::cluster_lost,
                   "no node says what it has",
                   {},
                   seen.missing.empty() ? std::string() : seen.missing.front()});
  }
  known_ = std::move(there);
  std::erase_if(links_, [&](const auto& link) {
    return std::find(known_.begin(), known_.end(), link.first) == known_.end();
  });
  seen.links = links_between(said);
  seen.links_beyond = seen.links.size() - std::min(seen.links.size(), links_seen_max);
  seen.links.resize(seen.links.size() - seen.links_beyond);
  std::sort(seen.nodes.begin(), seen.nodes.end(),
            [](const NodeInfo& a, const NodeInfo& b) { return a.life.process < b.life.process; });
  seen.jobs_beyond += which.choose(seen.jobs);
  std::sort(seen.jobs.begin(), seen.jobs.end(),
            [](const JobInfo& a, const JobInfo& b) { return a.job < b.job; });
  return seen;
}

}  // namespace dag::detail
