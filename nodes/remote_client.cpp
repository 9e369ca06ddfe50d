#include "nodes/remote_client.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nodes/build_id.hpp"
#include "nodes/workers/program_store.hpp"

namespace dag {
namespace {

/// Whole argv: worker processes take the same flags off it as this one did.
std::vector<std::string> arguments_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

/// Whoever started this process only wants the job's number: `dag submit`.
bool is_detached() {
  const char* value = std::getenv("DAG_DETACH");
  return value != nullptr && *value != '\0';
}

}  // namespace

RemoteClient::RemoteClient(const NodeOptions& options) : supervise_all_(options.supervise_all) {
  GatewayEvents events;
  events.told = [this](ClientMessage message) { told(std::move(message)); };
  events.note = [this](wire::JobNote note) {
    const std::lock_guard lock(mutex_);
    if (!handler_) return;
    handler_({note.is_progress ? JobEvent::Kind::progress : JobEvent::Kind::log, std::move(note.task),
              std::move(note.device), std::move(note.text), note.fraction});
  };
  events.lost = [this](const Error& why) { lose(why); };
  link_ = std::make_unique<GatewayLink>(options.address, std::move(events));
}

RemoteClient::~RemoteClient() { link_.reset(); }

Status RemoteClient::submit(std::shared_ptr<const detail::Fragment> graph,
                            std::shared_ptr<detail::JobState> state) {
  try {
    const Blob program = program_of_this_process();
    client::AskSubmit submission;
    submission.name = state->name;
    submission.graph = std::move(graph);
    submission.launch = {identify(program.bytes()), build_of_this_process(), arguments_of_this_process(),
                         std::filesystem::current_path().string()};
    submission.detached = is_detached();
    submission.supervise_all = supervise_all_;
    // The handle first: news of the job may be here before the answer to its submission.
    submission.job = *link_->ask([](std::uint64_t number) { return client::AskHandle{number}; }).job;
    state->id = submission.job;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(jobs_, [](const auto& job) { return job.second.expired(); });
      jobs_[submission.job] = state;
    }
    const ProgramId id = submission.launch.program;
    link_->ask(
        [&](std::uint64_t number) {
          submission.number = number;
          return submission;
        },
        std::nullopt,
        [&](const client::Answer&) {
          link_->send(keeper::ProgramBytes{id, program});
        });
    return Done{};
  } catch (const Failure& failure) {
    state->id = {};  // There is no such job to be forgotten.
    return failure.error();
  }
}

void RemoteClient::cancel(JobId job) {
  static_cast<void>(link_->ask([job](std::uint64_t number) { return client::AskCancel{number, job}; }));
}

void RemoteClient::forget(JobId job) { link_->send(client::ForgetJob{job}); }

void RemoteClient::on_event(std::function<void(const JobEvent&)> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

std::shared_ptr<detail::JobState> RemoteClient::find(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.lock();
}

void RemoteClient::told(ClientMessage message) {
  if (auto* settled = std::get_if<client::TaskSettled>(&message)) {
    if (const auto job = find(settled->job)) {
      job->settle(settled->task, {settled->outcome, std::move(settled->output), std::move(settled->error)});
    }
  } else if (const auto* ended = std::get_if<client::JobEnded>(&message)) {
    const auto job = find(ended->job);
    if (!job) return;
    if (ended->stopped) job->lose(*ended->stopped);
    const JobCounts& counts = ended->counts;
    job->end(!ended->stopped && counts.failed == 0 && counts.cancelled == 0,
             {{Outcome::finished, counts.finished},
              {Outcome::failed, counts.failed},
              {Outcome::skipped, counts.skipped},
              {Outcome::cancelled, counts.cancelled}});
  } else if (const auto* lost = std::get_if<client::JobLost>(&message)) {
    if (const auto job = find(lost->job)) job->lose(lost->why);
  }
}

void RemoteClient::lose(const Error& why) {
  std::vector<std::shared_ptr<detail::JobState>> waiting;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, job] : jobs_) {
      if (auto state = job.lock()) waiting.push_back(std::move(state));
    }
  }
  for (const auto& state : waiting) state->lose(why);
}

}  // namespace dag
