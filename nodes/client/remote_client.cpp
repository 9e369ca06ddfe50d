#include "nodes/client/remote_client.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "libdag/client/printed_log.hpp"
#include "nodes/disk/program_store.hpp"
#include "nodes/machine/draw_number.hpp"
#include "nodes/process/build_id.hpp"
#include "nodes/process/job_notes.hpp"
#include "nodes/process/parts.hpp"
#include "nodes/workers/client_world.hpp"

namespace dag {
namespace {

/// How long one node may take to answer while a job is looked for: others wait to be asked.
constexpr Duration connect_within = std::chrono::seconds(1);
constexpr Duration answer_within = std::chrono::seconds(2);
/// A new home is not in such a hurry.
constexpr Duration home_within = std::chrono::seconds(2);
/// The nodes of the cluster are asked for so often.
constexpr Duration look_every = std::chrono::seconds(2);
/// Nodes that may be lost during one submission or cancelling.
constexpr int submit_tries_max = 20;
/// Nodes that have just begun read their records first, and say so.
constexpr Duration attach_within = std::chrono::milliseconds(500);

/// Whole argv: worker processes take the same flags off it as this one did.
/// Where its kernels are to run; empty when the directory has been removed, so that they run in "/".
std::string directory_of_this_process() {
  std::error_code removed;
  return std::filesystem::current_path(removed).string();
}

std::vector<std::string> arguments_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

/// A file that runs does not change.
ProgramId id_of_this_program() {
  static const ProgramId id = identify(program_of_this_process().bytes());
  return id;
}

Launch launch_of_this_process(std::uint64_t session) {
  return {id_of_this_program(),
          build_of_this_process(),
          arguments_of_this_process(),
          directory_of_this_process(),
          travelling_environment(),
          soft_limits(),
          library_path(),
          session};
}

/// The parent of this process only wants the job's number: `dag submit`.
bool is_detached() {
  const char* value = std::getenv("DAG_DETACH");
  return value != nullptr && *value != '\0';
}

/// A command waits for the jobs of this process: `dag exec`, `dag flow`.
bool is_kept() { return std::getenv("DAG_KEPT") != nullptr; }

/// Said when no other node leads it.
Error led_by_none(JobId job) {
  return {ErrorCode::cluster_lost, "the node that led " + to_string(job) + " does not lead it any more",
          "`dag node list` shows which nodes are up"};
}

bool goes_elsewhere(const Error& error) {
  return error.code == ErrorCode::cluster_lost || error.code == ErrorCode::job_elsewhere;
}

}  // namespace

RemoteClient::RemoteClient(const NodeOptions& options, const detail::SearchLimits& limits)
    : supervise_all_(options.supervise_all),
      session_(is_detached() ? 0 : draw_number()),
      limits_(limits),
      links_({[this](LinkId from, ClientMessage message) { told(from, std::move(message)); },
              [this](wire::JobNote one) { note(std::move(one)); },
              [this](LinkId link, const Error& why) { on_lost(link, why); }}) {
  home_ = links_.open(options.address, GatewayLink::connect_within_default);
}

RemoteClient::~RemoteClient() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// ---- What the user asks for

Status RemoteClient::submit(std::shared_ptr<const detail::Fragment> graph,
                            std::shared_ptr<detail::JobState> state) {
  client::AskSubmit submission;
  try {
    submission.name = state->name;
    submission.graph = std::move(graph);
    submission.launch = launch_of_this_process(session_);
    submission.detached = is_detached();
    submission.kept = is_kept();
    submission.supervise_all = supervise_all_;
    // The handle first: news of the job may be here before the answer to its submission.
    const LinkId at = hand_out(submission.job, state);
    submission.key = key_of(submission.job);
    try {
      links_.ask(
          at,
          [&](std::uint64_t number) {
            submission.number = number;
            return submission;
          },
          [&, id = submission.launch.program](const client::Answer&) {
            links_.send(at, keeper::ProgramBytes{id, program_of_this_process()});
          });
    } catch (const Failure& failure) {
      // A node that knows it has accepted it. If none does, that is why it is lost.
      if (failure.error().code != ErrorCode::cluster_lost) throw;
      wait_for_leader(submission.job);
    }
    // The node has found others that have the record: one of them is to be known when it is lost.
    if (links_.nodes().size() > 1) return Done{};
    const std::lock_guard lock(mutex_);
    look_at_ = steady_now();
    changed_.notify_all();
    return Done{};
  } catch (const Failure& failure) {
    state->id = {};  // There is no such job to be forgotten.
    const std::lock_guard lock(mutex_);
    jobs_.erase(submission.job);
    return failure.error();
  }
}

Status RemoteClient::possible(const std::shared_ptr<const detail::Fragment>& graph) {
  client::AskSubmit submission;
  submission.graph = graph;
  submission.dry_run = true;
  try {
    submission.launch = launch_of_this_process(session_);
    const LinkId at = home();
    submission.job = links_.exchange(at, [](std::uint64_t number) { return client::AskHandle{number}; })
                         .job.value_or(JobId{});
    links_.ask(at, [&](std::uint64_t number) {
      submission.number = number;
      return submission;
    });
  } catch (const Failure& failure) {
    return failure.error();
  }
  return Done{};
}

LinkId RemoteClient::hand_out(JobId& job, const std::shared_ptr<detail::JobState>& state) {
  for (int tries = 1;; ++tries) {
    const LinkId at = home();
    try {
      const client::Answer handle =
          links_.exchange(at, [](std::uint64_t number) { return client::AskHandle{number}; });
      if (handle.error && !handle.elsewhere.empty() && tries < submit_tries_max) {
        // The node is draining, or its disk is full.
        const LinkId other = links_.open(handle.elsewhere, home_within);
        const std::lock_guard lock(mutex_);
        home_ = other;
        continue;
      }
      if (handle.error) throw Failure(*handle.error);
      job = *handle.job;
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::cluster_lost || tries == submit_tries_max) throw;
      continue;  // Nothing was created.
    }
    state->id = job;
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [](const auto& one) { return one.second.state.expired(); });
    KnownJob& known = jobs_[job];
    known.state = state;
    known.key = draw_number() | 1;
    known.at = at;
    // Lost already: on_lost has not seen the job.
    if (!links_.is_up(at)) look_for(known, links_.why_down(at));
    begin_thread();
    return at;
  }
}

LinkId RemoteClient::home() {
  LinkId at;
  {
    const std::lock_guard lock(mutex_);
    at = home_;
  }
  if (links_.is_up(at)) return at;
  const Error why = links_.why_down(at);
  for (const std::string& node : links_.nodes()) {
    try {
      at = links_.open(node, home_within);
    } catch (const Failure&) {
      continue;  // The next one may be there.
    }
    const std::lock_guard lock(mutex_);
    return home_ = at;
  }
  throw Failure(why);
}

void RemoteClient::want(JobId job, std::uint32_t task) {
  const std::lock_guard lock(mutex_);
  KnownJob* known = find(job);
  if (known == nullptr || known->settled.contains(task)) return;
  known->wanted.insert(task);
  if (known->at) links_.send(known->at, client::Want{job, task});  // Else the next leader is told.
}

void RemoteClient::attach(JobId job, std::shared_ptr<detail::JobState> state) {
  home();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [](const auto& one) { return one.second.state.expired(); });
    KnownJob& known = jobs_[job];
    known.state = state;
    known.attached = true;
    look_for(known, {ErrorCode::job_unknown, "no node of the cluster knows " + to_string(job),
                     "`dag ls` lists the known jobs"});
    begin_thread();
  }
  wait_for_leader(job);
}

std::map<std::uint32_t, std::string> RemoteClient::outputs(JobId job, const std::string& name) {
  std::map<std::uint32_t, std::string> outputs;
  const client::Answer answer = ask_leader(job, [&](std::uint64_t number) {
    return client::AskOutputs{number, job, name};
  });
  for (const OutputInfo& output : answer.outputs) outputs.emplace(output.task, output.name);
  return outputs;
}

void RemoteClient::cancel(JobId job) {
  ask_leader(job, [job](std::uint64_t number) { return client::AskCancel{number, job}; });
}

client::Answer RemoteClient::ask_leader(JobId job, const GatewayLink::Question& question) {
  for (int tries = 1;; ++tries) {
    const LinkId at = wait_for_leader(job);
    try {
      return links_.ask(at, question);
    } catch (const Failure& failure) {
      if (!goes_elsewhere(failure.error()) || tries == submit_tries_max) throw;
      const std::lock_guard lock(mutex_);
      // If the node was lost, on_lost has started the search.
      if (KnownJob* known = find(job); known != nullptr && known->at == at)
        look_for(*known, led_by_none(job));
    }
  }
}

LinkId RemoteClient::wait_for_leader(JobId job) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const KnownJob* known = find(job);
    if (known == nullptr) throw Failure({ErrorCode::job_unknown, "no such job: " + to_string(job)});
    if (known->lost) throw Failure(*known->lost);
    if (known->at) return known->at;
    changed_.wait(lock);
  }
}

void RemoteClient::forget(JobId job) {
  const std::lock_guard lock(mutex_);
  KnownJob* known = find(job);
  if (known == nullptr) return;
  if (known->at) links_.send(known->at, client::ForgetJob{job});
  jobs_.erase(job);
  changed_.notify_all();
}

std::optional<std::map<Outcome, std::uint64_t>> RemoteClient::counts(JobId job) {
  try {
    const client::Answer answer = links_.exchange(wait_for_leader(job), [job](std::uint64_t number) {
      return client::AskJobs{number, job};
    });
    if (answer.jobs.empty()) return std::nullopt;
    return detail::by_outcome(answer.jobs.front().counts);
  } catch (const Failure&) {
    return std::nullopt;  // Another node may come to lead it. What was known before is still true.
  }
}

void RemoteClient::on_event(std::function<void(const JobEvent&)> handler) {
  const std::lock_guard lock(handler_mutex_);
  handler_ = std::move(handler);
}

// ---- What the nodes tell

std::uint64_t RemoteClient::key_of(JobId job) {
  const std::lock_guard lock(mutex_);
  const KnownJob* known = find(job);
  return known == nullptr ? 0 : known->key;
}

RemoteClient::KnownJob* RemoteClient::find(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void RemoteClient::note(wire::JobNote note) {
  const std::lock_guard lock(handler_mutex_);
  const JobEvent event = event_of(std::move(note));
  handler_ ? handler_(event) : detail::print_log(event);
}

void RemoteClient::told(LinkId from, ClientMessage message) {
  std::shared_ptr<detail::JobState> state;  // Let go of without the lock.
  std::unique_lock lock(mutex_);
  const auto known_by = [&](JobId id) {
    KnownJob* known = find(id);
    if (known != nullptr) state = known->state.lock();
    return known;
  };
  if (auto* settled = std::get_if<client::TaskSettled>(&message)) {
    KnownJob* job = known_by(settled->job);
    if (job != nullptr && job->wanted.erase(settled->task) != 0) job->settled.insert(settled->task);
    lock.unlock();
    if (!state) return;
    state->settle(settled->task, {settled->outcome, std::move(settled->output), std::move(settled->error)});
  } else if (const auto* ended = std::get_if<client::JobEnded>(&message)) {
    known_by(ended->job);
    lock.unlock();
    if (!state) return;
    if (ended->stopped) state->lose(*ended->stopped);
    const JobCounts& counts = ended->counts;
    state->end(!ended->stopped && counts.well(), detail::by_outcome(counts));
  } else if (const auto* lost = std::get_if<client::JobLost>(&message)) {
    // A node that does not lead it any more may say so of a job that goes on elsewhere.
    const KnownJob* job = known_by(lost->job);
    const bool by_leader = job != nullptr && (job->at == from || job->asked == from);
    lock.unlock();
    if (state && by_leader) state->lose(lost->why);
  } else if (const auto* moved = std::get_if<client::JobMoved>(&message)) {
    KnownJob* job = known_by(moved->job);
    if (job == nullptr) return;
    if (job->asked == from) job->moved = true;
    if (job->at == from) look_for(*job, led_by_none(moved->job));
  }
}

/// Also when no other node is known: it may be started again, and go on with what lies on its disk.
void RemoteClient::on_lost(LinkId link, const Error& why) {
  std::vector<std::shared_ptr<detail::JobState>> over;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    for (auto& [id, job] : jobs_) {
      if (job.at != link) continue;
      if (why.code != ErrorCode::frame_invalid) {
        look_for(job, why);
        continue;
      }
      // A new leader would be told, or tell us, the same.
      job.at = {};
      job.lost = why;
      over.push_back(job.state.lock());
      changed_.notify_all();
    }
  }
  for (const auto& state : over) {
    if (state) state->lose(why);
  }
}

// ---- The search for leaders

void RemoteClient::look_for(KnownJob& job, Error why) {
  job.at = {};
  job.search_at = steady_now();
  // The submitter knows that its job exists: a node that knows nothing of the job may have to hear first.
  detail::SearchLimits limits = limits_;
  if (job.attached && !job.found) limits.unknown = std::min(limits.unknown, attach_within);
  job.search.emplace(limits, std::move(why), job.search_at);
  job.search->know(links_.nodes());
  changed_.notify_all();
}

void RemoteClient::begin_thread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void RemoteClient::run() {
  pthread_setname_np(pthread_self(), "dag-follow");
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Instant now = steady_now();
    if (look_at_ <= now) {
      look_at_ = now + look_every;
      const std::set<LinkId> used = links_used();
      lock.unlock();
      links_.look_after(used);
      lock.lock();
      continue;
    }
    Instant due = look_at_;
    JobId next;
    for (const auto& [id, job] : jobs_) {
      if (!job.search || job.search_at >= due) continue;
      due = job.search_at;
      next = id;
    }
    if (due <= now) {
      step(lock, next);
    } else {
      changed_.wait_for(lock, due - now);
    }
  }
}

std::set<LinkId> RemoteClient::links_used() const {
  std::set<LinkId> used{home_};
  for (const auto& [id, job] : jobs_) used.insert(job.at);
  return used;
}

void RemoteClient::step(std::unique_lock<std::mutex>& lock, JobId id) {
  KnownJob& job = jobs_.at(id);
  const detail::SearchStep next = job.search->next(steady_now());
  if (const auto* node = std::get_if<detail::AskNode>(&next)) {
    ask(lock, id, node->address);
  } else if (const auto* wait = std::get_if<detail::WaitUntil>(&next)) {
    job.search_at = wait->at;
  } else {
    job.search.reset();
    job.lost = std::get<detail::GiveUp>(next).why;
    changed_.notify_all();
    std::shared_ptr<detail::JobState> state = job.state.lock();
    const Error why = *job.lost;
    lock.unlock();
    if (state) state->lose(why);
    state.reset();
    lock.lock();
  }
}

void RemoteClient::ask(std::unique_lock<std::mutex>& lock, JobId id, const std::string& node) {
  client::AskFollow question;
  question.job = id;
  question.key = jobs_.at(id).key;
  question.attaches = jobs_.at(id).attached;
  question.tasks.assign(jobs_.at(id).wanted.begin(), jobs_.at(id).wanted.end());
  lock.unlock();
  LinkId link;
  std::optional<client::Answer> answer;
  try {
    link = links_.open(node, connect_within);
    lock.lock();
    if (KnownJob* job = find(id)) {
      job->asked = link;
      job->moved = false;
    }
    lock.unlock();
    answer = links_.exchange(
        link,
        [&](std::uint64_t number) {
          question.number = number;
          return question;
        },
        answer_within);
  } catch (const Failure&) {
    // No answer: the next node is asked.
  }
  lock.lock();
  KnownJob* job = find(id);
  if (job == nullptr) {  // Forgotten meanwhile.
    if (answer && !answer->error) links_.send(link, client::ForgetJob{id});
    return;
  }
  job->asked = {};
  const Instant now = steady_now();
  job->search_at = now;
  job->search->know(links_.nodes());
  if (!answer) return;
  if (answer->error && answer->error->code == ErrorCode::job_unknown) {
    job->search->on_unknown(*answer->error, now);
  } else if (answer->error) {
    job->search->on_elsewhere(*answer->error, answer->elsewhere, now);
  } else if (!job->moved && links_.is_up(link)) {
    job->at = link;
    job->found = true;
    job->search.reset();
    for (const std::uint32_t task : job->wanted) {  // Tasks that became wanted while the node was asked.
      if (!std::binary_search(question.tasks.begin(), question.tasks.end(), task))
        links_.send(link, client::Want{id, task});
    }
    changed_.notify_all();
  }
}

}  // namespace dag
