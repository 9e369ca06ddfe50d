#include "nodes/inspector/looks.hpp"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"
#include "libdag/client/node_lanes.hpp"
#include "libdag/keeper/job_story.hpp"
#include "nodes/process/parts.hpp"

namespace dag::inspector {
namespace {

/// A browser waits; `dag` has more patience.
constexpr Duration node_answers_within = std::chrono::seconds(2);

// Longer lists are cut where they are made.
static_assert(detail::links_seen_max <= rows_in_event_max);
static_assert(JobStory::tasks_max <= rows_in_event_max && JobStory::classes_max <= rows_in_event_max);

std::int64_t unix_ms_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// In their order: those in trouble, and of the others the first.
std::vector<const NodeInfo*> to_be_seen(const std::vector<NodeInfo>& nodes) {
  std::vector<const NodeInfo*> chosen;
  for (const NodeInfo& node : nodes) chosen.push_back(&node);
  std::stable_partition(chosen.begin(), chosen.end(), [](const NodeInfo* node) {
    return node->state != MemberState::alive || !node->not_ready.empty();
  });
  chosen.resize(std::min(chosen.size(), rows_in_event_max));
  std::sort(chosen.begin(), chosen.end());  // All point into one vector.
  return chosen;
}

/// Cuts `list` to the rows of an event; returns the number of rows cut off.
std::size_t cut(nlohmann::json& list) {
  const std::size_t beyond = list.size() - std::min(list.size(), rows_in_event_max);
  list.erase(list.end() - static_cast<std::ptrdiff_t>(beyond), list.end());
  return beyond;
}

/// The event's JSON in one line, without its line end.
std::string event_line(const nlohmann::json& fields) {
  std::string line = detail::json_line(fields);
  line.pop_back();
  return line;
}

}  // namespace

std::vector<const JobInfo*> in_order(const std::vector<JobInfo>& jobs) {
  std::vector<const JobInfo*> all;
  for (const JobInfo& job : jobs) all.push_back(&job);
  std::stable_sort(all.begin(), all.end(),
                   [](const JobInfo* a, const JobInfo* b) { return is_listed_before(*a, *b); });
  return all;
}

std::string cluster_json(const detail::Seen& seen, const std::string& node, std::int64_t unix_ms) {
  auto nodes = nlohmann::json::array(), jobs = nlohmann::json::array(), links = nlohmann::json::array();
  for (const NodeInfo* one : to_be_seen(seen.nodes)) nodes.push_back(detail::to_json(*one));
  for (const JobInfo* job : in_order(seen.jobs)) {
    if (jobs.size() == rows_in_event_max) break;
    jobs.push_back(detail::row_json(*job, seen.leaders.at(job->job)));
  }
  for (const detail::NodeLink& link : seen.links) links.push_back(detail::to_json(link));
  detail::NodeLanes lanes;
  std::size_t alive = 0;
  for (const NodeInfo& one : seen.nodes) {
    if (one.state != MemberState::alive) continue;  // The last claims of a node that is gone are out of date.
    ++alive;
    lanes += detail::lanes_of(one);
  }
  const auto open = std::count_if(seen.jobs.begin(), seen.jobs.end(),
                                  [](const JobInfo& job) { return !has_ended(job.phase); });
  nlohmann::json missing = seen.missing;
  const std::size_t missing_beyond = cut(missing);
  const std::size_t nodes_beyond = seen.nodes.size() - nodes.size();
  const std::size_t jobs_beyond = seen.jobs.size() - jobs.size();
  return event_line({{"time_unix_ms", unix_ms},
                     {"seen_by", node},
                     {"version", DAG_VERSION},
                     {"nodes", std::move(nodes)},
                     {"nodes_beyond", nodes_beyond},
                     {"nodes_alive", alive},
                     {"lanes", lanes.there},
                     {"lanes_busy", lanes.running},
                     {"jobs", std::move(jobs)},
                     {"jobs_beyond", jobs_beyond},
                     {"jobs_open", open},
                     {"links", std::move(links)},
                     {"links_beyond", seen.links_beyond},
                     {"missing", std::move(missing)},
                     {"missing_beyond", missing_beyond}});
}

std::string job_json(const JobInfo& job) {
  nlohmann::json fields = detail::to_json(job);
  fields["workers_beyond"] = cut(fields["workers"]);
  return event_line(fields);
}

Looks::Looks(std::string address, std::string node, std::function<void()> on_thread)
    : address_(std::move(address)),
      node_(std::move(node)),
      on_thread_(std::move(on_thread)),
      thread_([this] { run(); }) {}

void Looks::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Looks::ask(std::optional<JobId> job, Then then) {
  LookPointer look;
  {
    const std::lock_guard lock(mutex_);
    if (job) wanted_[*job] = steady_now();
    if (newest_ && steady_now() - looked_at_ < fresh && (!job || newest_->jobs.contains(*job))) {
      look = newest_;
    } else {
      waiting_.emplace_back(job, std::move(then));
    }
  }
  if (look) return then(look);
  changed_.notify_all();
}

void Looks::run() {
  pthread_setname_np(pthread_self(), "dag-looks");
  on_thread_();
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_wanted = [this] { return ends_ || !waiting_.empty(); };
    if (!changed_.wait_for(lock, idle, is_wanted)) {
      nodes_.reset();
      newest_.reset();
      changed_.wait(lock, is_wanted);
    }
    // Requests that come within a moment share the next look.
    changed_.wait_for(lock, looked_at_ + fresh - steady_now(), [this] { return ends_; });
    if (ends_) return;
    const auto waiting = std::move(waiting_);
    waiting_.clear();
    const Instant now = steady_now();
    std::erase_if(wanted_, [now](const auto& one) { return now - one.second > remembered; });
    std::set<JobId> jobs;
    for (const auto& [job, at] : wanted_) jobs.insert(job);
    for (const auto& [job, then] : waiting) {
      if (job) jobs.insert(*job);  // However long the last look took.
    }
    lock.unlock();
    const LookPointer seen = look(jobs);
    for (const auto& [job, then] : waiting) then(seen);
    lock.lock();
    newest_ = seen->failed ? nullptr : seen;
    looked_at_ = steady_now();
  }
}

LookPointer Looks::look(const std::set<JobId>& jobs) {
  auto made = std::make_shared<Look>();
  try {
    if (!nodes_) nodes_ = std::make_unique<detail::AllNodes>(address_, node_answers_within);
    made->seen = nodes_->look();
    made->cluster = cluster_json(made->seen, node_, unix_ms_now());
  } catch (const Failure& failure) {
    nodes_.reset();
    made->failed = failure.error();
    return made;
  } catch (const std::exception& problem) {  // No memory, say: the node has other things to do.
    nodes_.reset();
    made->failed = Error{ErrorCode::internal, "this node cannot look at the cluster", {}, problem.what()};
    return made;
  }
  for (const JobId job : jobs) {
    try {
      JobInfo known = nodes_->job(job, made->seen);
      made->jobs[job] = job_json(known);
      made->known.emplace(job, std::move(known));
    } catch (const Failure& failure) {
      made->refused.emplace(job, failure.error());
      made->jobs[job] = event_line({{"error", detail::to_json(failure.error())}});
    }
  }
  return made;
}

}  // namespace dag::inspector
