#include "actors/node_actor.hpp"

#include <algorithm>

#include "actors/cell_actor.hpp"
#include "actors/exceptions.hpp"
#include "actors/job_here_actor.hpp"
#include "actors/record_actor.hpp"

namespace dag {

NodeActor::NodeActor(caf::actor_config& config, NodeSetup setup, LanesPort& lanes, const Ports& ports,
                     EventSink& records)
    : event_based_actor(config),
      setup_(std::move(setup)),
      lanes_(lanes),
      ports_(ports),
      records_(records),
      forgotten_(std::move(setup_.forgotten)) {
  set_down_handler([this](const caf::down_msg& down) { on_child_down(down); });
}

caf::behavior NodeActor::make_behavior() {
  set_exception_handler(keep_text);
  return {
      [this](mail::Submit& order) { submit(order); },
      [this](mail::Record& order) {
        if (ask_what_is_done(order)) return;
        const JobId id = order.plan->job;
        open_record(id, std::move(order));
      },
      [this](mail::Recover) {
        for (auto& [id, log] : std::exchange(setup_.logs, {})) open_record(id, std::nullopt, std::move(log));
      },
      [this](mail::CopySaid& copy) { on_copy_said(copy); },
      [this](const mail::RecordHere& here) {
        const auto job = jobs_.find(here.plan->job);
        if (job == jobs_.end() || !job->second.cell) return;  // Closed while this was on its way.
        open_job(here.plan);
        send(job->second.cell, mail::JobOpened{job->second.job});
        hand_over(here.plan->job);
      },
      [this](mail::SaveHere& save) {
        if (const auto job = jobs_.find(save.copy.job); job != jobs_.end() && job->second.recorded)
          send(job->second.cell, std::move(save));
      },
      [this](const mail::RecordOver& over) {
        if (const auto job = jobs_.find(over.job); job != jobs_.end() && job->second.recorded)
          close_job(over.job);
      },
      [this](const mail::Seats& seats) {
        if (seats_ == seats) return;  // Said with each heartbeat.
        seats_ = seats;
        for (const auto& [id, job] : jobs_) {
          if (job.recorded) send(job.cell, seats);
        }
      },
      [](const mail::Probe& probe) { probe.heard(); },
      [this](const mail::LivesUp& up) {
        if (const auto job = jobs_.find(up.job); job != jobs_.end() && job->second.cell)
          send(job->second.cell, up);
      },
      [this](const mail::Want& want) {
        if (const auto job = jobs_.find(want.job); job != jobs_.end() && job->second.cell)
          send(job->second.cell, want);
      },
      [this](const mail::CancelJob& cancel) {
        if (const auto job = jobs_.find(cancel.job); job != jobs_.end() && job->second.cell) {
          send(job->second.cell, cancel);
        }
      },
      [this](const mail::StopJob& stop) {
        if (const auto job = jobs_.find(stop.job); job != jobs_.end() && job->second.cell) {
          send(job->second.cell, stop);
        }
      },
      [this](const mail::ForgetJob& forget) {
        if (const auto job = jobs_.find(forget.job); job != jobs_.end() && job->second.cell) {
          send(job->second.cell, forget);
        }
      },
      [this](mail::Outgoing& outgoing) {
        for (SendMessage& message : outgoing.messages) route(std::move(message));
        hand_over();
      },
      [this](const mail::WorkCame& came) {
        thief_.on_work(came.from);
        lanes_.tell_when_dry();  // There may be more.
      },
      [this](const mail::EndsBy& news) { on_ends_by(news); },
      [this](const mail::LeaseOver& due) { on_lease_over(due); },
      [this](const mail::JobOver& over) { close_job(over.job); },
      [this](mail::Explain& question) { explain(question); },
      [this](mail::Arrived& arrived) {
        for (JobMessage& message : arrived.messages) deliver(arrived.from, std::move(message));
        hand_over();
        arrived.handled();
      },
      [this](const mail::Loads& loads) {
        loads_ = loads;
        steal();
        for (const auto& [id, job] : jobs_) {
          if (job.job) send(job.job, loads);
        }
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;
        wake_at_.reset();
        steal();
      },
      [this](mail::Dry) { steal(); },
      [this](const mail::LifeUp& up) {
        setup_.lives.insert(up.life);
        for (const auto& [id, job] : jobs_) {
          if (hears_of_all(job)) send(job.cell, up);
        }
      },
      [this](const mail::LifeDown& down) {
        setup_.lives.erase(down.life);
        thief_.on_member_down(down.life);
        if (down.job) {
          if (const auto job = jobs_.find(*down.job); job != jobs_.end() && job->second.cell)
            send(job->second.cell, down);
          return;
        }
        for (const auto& [id, job] : jobs_) {
          if (hears_of_all(job)) send(job.cell, down);
        }
      },
  };
}

void NodeActor::on_exit() {
  while (!jobs_.empty()) close_job(jobs_.begin()->first, false);
}

template <class Order>
bool NodeActor::ask_what_is_done(Order& order) {
  if (!order.retry || order.retry->begins) return false;
  const JobId retried = order.retry->of.job;
  const auto ended = jobs_.find(retried);
  if (ended != jobs_.end() && ended->second.cell) {
    send(ended->second.cell, std::move(order));
    return true;
  }
  // Its time was over in this moment.
  ports_.process.log(to_string(order.plan->job) + " does not begin: " + to_string(retried) +
                     " is not kept any more");
  return true;
}

void NodeActor::submit(mail::Submit& order) {
  if (ask_what_is_done(order)) return;
  if (order.retry) order.plan = order.retry->begins->genesis.plan;
  open_job(order.plan);
  HostedJob& job = jobs_.at(order.plan->job);
  CellSetup setup;
  setup.options = {setup_.self, order.plan->seed};
  setup.options.submitted = order.submitted;
  setup.plan = order.plan;
  setup.retry = std::move(order.retry);
  if (order.lives.empty()) {
    setup.lives.assign(setup_.lives.begin(), setup_.lives.end());
  } else {
    // The job runs elsewhere; this process has its record, and fetches outputs for its client.
    job.runs_elsewhere = true;
    setup.lives = std::move(order.lives);
    setup.lives.push_back(setup_.self);
    setup.options.self_runs = false;
  }
  job.cell = spawn<CellActor, caf::monitored>(std::move(setup), ports_, records_,
                                              caf::actor_cast<caf::actor>(this), job.job);
  send(job.job, mail::CellHere{job.cell});
  hand_over(order.plan->job);
}

void NodeActor::open_record(JobId id, std::optional<mail::Record> begins, consensus::Stored stored) {
  if (jobs_.contains(id) || is_forgotten(id)) return;
  HostedJob& job = job_here(id);
  job.runs_elsewhere = job.recorded = true;
  RecordSetup setup{id,           setup_.self, setup_.records, std::move(begins), std::move(stored),
                    setup_.lives, seats_};
  try {
    job.cell = spawn<RecordActor, caf::monitored>(std::move(setup), ports_, records_,
                                                  caf::actor_cast<caf::actor>(this));
  } catch (const Failure& failure) {
    Error why = failure.error();
    why.what = "the copy of the record of " + to_string(id) + " that this node has is of no use: " + why.what;
    fail_job(id, std::move(why));
  }
}

/// The first word of a copy elsewhere makes one here, which is told all.
void NodeActor::on_copy_said(mail::CopySaid& copy) {
  const JobId id = copy.said.job;
  if (!setup_.logs.empty()) return;  // Nobody speaks for a copy that is still on the disk alone.
  if (!ports_.replicas || failed_.contains(id)) return;
  const bool is_over = std::holds_alternative<consensus::Over>(copy.said.message);
  if (is_forgotten(id)) {
    if (!is_over)
      ports_.replicas->send(copy.from, consensus::Addressed{id, consensus::Over{setup_.records.seat, 0}});
    return;
  }
  if (is_over && !jobs_.contains(id)) return;
  open_record(id, std::nullopt);
  const auto job = jobs_.find(id);
  if (job != jobs_.end() && job->second.recorded) send(job->second.cell, std::move(copy));
}

NodeActor::HostedJob& NodeActor::job_here(JobId id) {
  const auto [at, is_new] = jobs_.try_emplace(id);
  if (is_new) at->second.waiting = early_.take(id);
  return at->second;
}

void NodeActor::open_job(const std::shared_ptr<const JobPlan>& plan) {
  if (is_forgotten(plan->job)) return;
  HostedJob& job = job_here(plan->job);
  if (job.job) return;
  JobSetup setup{setup_.self, plan, job.cell, loads_, setup_.released_bytes_max};
  job.job = spawn<JobHereActor, caf::monitored>(std::move(setup), lanes_, ports_, records_,
                                                caf::actor_cast<caf::actor>(this));
}

void NodeActor::route(SendMessage message) {
  if (message.to == setup_.self) {
    deliver(setup_.self, std::move(message.message));
  } else {
    ports_.process.send(message.to, std::move(message.message));
  }
}

void NodeActor::deliver(Life from, JobMessage message) {
  const JobId id = job_of(message);
  if (is_forgotten(id)) return;
  if (const auto* create = std::get_if<message::JobCreate>(&message)) {
    open_job(create->plan);
    return hand_over(id);
  }
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    if (failed_.contains(id)) return;
    return hold_early(from, std::move(message));
  }
  HostedJob& job = found->second;
  if (job.waiting.empty()) to_hand_over_.push_back(id);
  job.waiting.emplace_back(from, std::move(message));
}

/// Holds a message for a job that is not known here yet: asks its cell, if the cell has not come forward.
void NodeActor::hold_early(Life from, JobMessage message) {
  const JobId id = job_of(message);
  std::optional<SendMessage> question;
  std::uint32_t term = 0;
  if (const auto* state = std::get_if<message::JobState>(&message)) {
    if (message::is_over_for(*state, setup_.self)) {
      early_.take(id);
      forgotten_.insert(id.value);
      return;
    }
    question = SendMessage{state->cell, message::AskPlan{id}};
    term = state->term;
  }
  if (const auto given_up = early_.hold(from, std::move(message)))
    ports_.process.log("nobody has said what " + to_string(*given_up) + " is: what came of it is dropped");
  if (question && early_.asks(id, term)) route(*std::move(question));
}

void NodeActor::hand_over() {
  for (const JobId id : std::exchange(to_hand_over_, {})) hand_over(id);
}

/// Messages wait while it is not known what the job is.
void NodeActor::hand_over(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.job || found->second.waiting.empty()) return;
  HostedJob& job = found->second;
  for (const auto& [from, message] : job.waiting) {
    const auto* state = std::get_if<message::JobState>(&message);
    if (state != nullptr && state->version > job.state.version) job.state = *state;
  }
  send(job.job, mail::Delivery{std::exchange(job.waiting, {})});
  if (job.state.version == 0 || std::exchange(job.begun, true)) return;
  thief_.on_new_job();
  steal();
}

void NodeActor::explain(mail::Explain& question) {
  question.process.life = setup_.self;
  question.process.lanes = static_cast<std::uint32_t>(lanes_.count());
  question.process.queued = lanes_.queued();
  question.process.running = lanes_.running_now();
  const auto job = jobs_.find(question.job);
  if (job == jobs_.end() || !job->second.job) return question.done(std::move(question.process));
  send(job->second.job, std::move(question));
}

void NodeActor::close_job(JobId id, bool for_good) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  if (job->second.recorded) {
    ports_.listener->record_over(id);
    if (job->second.cell) send_exit(job->second.cell, caf::exit_reason::user_shutdown);
  } else if (job->second.cell) {
    // Outputs lie where they were made for as long as the client may ask for them: until now. A state in
    // which nobody takes part any more says so, if the cell has not said it.
    message::JobState over = std::move(job->second.state);
    const std::vector<Life> lives = std::exchange(over.lives, {});
    ++over.version;
    over.ended = true;
    for (const Life life : lives) {
      if (life != setup_.self) ports_.process.send(life, over);
    }
    send_exit(job->second.cell, caf::exit_reason::user_shutdown);
  }
  if (job->second.job) send_exit(job->second.job, caf::exit_reason::user_shutdown);
  const bool recorded = job->second.recorded;
  jobs_.erase(job);
  if (!for_good) return;
  forgotten_.insert(id.value);
  if (!recorded) return;
  if (ports_.log) ports_.log->forget(id);
  if (ports_.saves) ports_.saves->forget(id);
}

void NodeActor::on_ends_by(const mail::EndsBy& news) {
  const auto job = jobs_.find(news.job);
  if (job == jobs_.end()) return;
  job->second.ends_by = news.at;
  if (news.at)
    delayed_send(this, std::max(*news.at - ports_.process.now(), Duration{0}),
                 mail::LeaseOver{news.job, *news.at});
}

void NodeActor::on_lease_over(const mail::LeaseOver& due) {
  const auto job = jobs_.find(due.job);
  if (job == jobs_.end() || job->second.ends_by != due.at) return;
  ports_.process.end_now("this process could not renew its lease, under which it runs exclusive tasks of " +
                         to_string(due.job));
}

void NodeActor::on_child_down(const caf::down_msg& down) {
  if (!down.reason || down.reason == caf::exit_reason::user_shutdown) return;
  const auto is_it = [&](const caf::actor& actor) { return actor && actor.address() == down.source; };
  for (auto& [id, job] : jobs_) {
    if (is_it(job.cell) || is_it(job.job)) return fail_job(id, error_of(down.reason, to_string(id)));
  }
}

/// The parts of the job in this process are gone.
void NodeActor::fail_job(JobId id, Error why) {
  HostedJob& job = jobs_.at(id);
  ports_.process.log(why.what);
  if (job.cell || job.recorded) {
    ports_.listener->lost(id, std::move(why));
  } else {
    // Elsewhere they wait for what was here; they recover from a process that ends, not from half of one.
    ports_.process.escalate(std::move(why));
  }
  const bool recorded = job.recorded;
  // Other copies may be well, and are not to hear that nobody needs theirs.
  close_job(id, !recorded);
  if (recorded) failed_.insert(id);
}

}  // namespace dag
