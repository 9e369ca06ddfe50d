#include "actors/keeper_actor.hpp"

#include "actors/exceptions.hpp"
#include "libdag/replica/submission.hpp"

namespace dag {
namespace {

/// How often is looked for programs that nobody needs any more.
constexpr Duration shelf_every = std::chrono::minutes(1);

std::optional<mail::Retry> retry_mail(std::optional<RetryOf>& of) {
  if (!of) return std::nullopt;
  return mail::Retry{*std::move(of)};
}

}  // namespace

KeeperActor::KeeperActor(caf::actor_config& config, KeeperSetup setup, std::unique_ptr<KeeperPorts> ports,
                         caf::actor node)
    : event_based_actor(config),
      setup_(std::move(setup)),
      ports_(std::move(ports)),
      node_(std::move(node)),
      gateway_(setup_.self, setup_.pid, setup_.recorded, setup_.handles_seen, setup_.replicas,
               setup_.expects_peers, setup_.results),
      host_(setup_.self, setup_.limits),
      shelf_(setup_.programs_bytes_max) {
  gateway_.on_found(setup_.unread);
  for (const ProgramId program : setup_.programs) {
    host_.on_program(program, std::nullopt, ports_->now());
    gateway_.on_program(program, std::nullopt, ports_->now());
    shelf_.use(program, ports_->now());
  }
}

caf::behavior KeeperActor::make_behavior() {
  set_exception_handler(keep_text);
  return {
      [this](mail::ClientSaid& said) {
        const auto* asked = std::get_if<client::AskJobs>(&said.message);
        if (asked != nullptr && asked->job) look_up(*asked->job);
        gateway_.on_client_message(said.from, std::move(said.message), ports_->now());
        act();
      },
      [this](mail::KeeperSaid& said) {
        heard(said.from, std::move(said.message));
        act();
      },
      [this](const mail::Greeted& greeted) {
        host_.on_greeted(greeted.life, greeted.endpoint, greeted.build);
        act();
      },
      [this](const mail::Gone& gone) {
        gateway_.on_client_gone(gone.life, ports_->now());
        act();
      },
      [this](mail::Nodes& nodes) {
        mail::Seats seats;
        for (const Claim& node : nodes.nodes) {
          if (node.life == setup_.self) {
            seats.disk_full = node.load.disk_full || node.load.disk_stuck;
            seats.sick = node.load.sick;
          }
          if (node.load.disk == 0) continue;
          const consensus::Seat seat{node.life.process, node.load.disk};
          if (node.load.draining) {
            seats.leaving.push_back(seat);
          } else {
            seats.alive.push_back({seat, 1});
          }
        }
        send(node_, std::move(seats));
        host_.on_nodes(nodes.nodes);
        gateway_.on_nodes(std::move(nodes.nodes), ports_->now(), std::move(nodes.heard));
        act();
        if (!looked_at_shelf_ || ports_->now() - *looked_at_shelf_ >= shelf_every) let_programs_go(0);
      },
      [this](const mail::LifeDown& down) {
        host_.on_keeper_down(down.life, ports_->now());
        send(node_, down);
        act();
      },
      [this](const mail::ProcessStarted& started) {
        host_.on_started(started.life, started.pid);
        act();
      },
      [this](const mail::ProcessNotStarted& failed) {
        host_.on_not_started(failed.life, failed.why);
        act();
      },
      [this](mail::ProcessEnded& ended) {
        host_.on_ended(ended.life, ended.end, ended.text, std::move(ended.running), ended.guilty_lane);
        act();
      },
      [this](mail::Noted& noted) {
        if (auto* progress = std::get_if<mail::Noted::Progress>(&noted.what)) {
          const bool over = !progress->now;
          gateway_.on_progress(noted.job, noted.from, progress->device, std::move(progress->now));
          if (over) return;
        } else if (const auto* crash = std::get_if<mail::Noted::Crash>(&noted.what)) {
          if (!gateway_.is_new_crash(noted.job, crash->task, crash->number)) return;
        }
        if (const auto client = gateway_.client_of(noted.job)) noted.pass_on(*client);
      },
      [this](const mail::LifeUp& up) { send(node_, up); },
      [this](mail::Probe& probe) { send(node_, std::move(probe)); },
      [this](mail::JobSaid& said) {
        if (auto* settled = std::get_if<client::TaskSettled>(&said.what)) {
          gateway_.on_settled(said.job, std::move(*settled));
        } else if (const auto* counts = std::get_if<JobCounts>(&said.what)) {
          gateway_.on_counts(said.job, *counts);
        } else if (const auto* ended = std::get_if<client::JobEnded>(&said.what)) {
          look_up(said.job);
          ports_->forget_details(said.job);
          ports_->job_ended(said.job, !ended->stopped && ended->counts.well());
          gateway_.on_ended(said.job, ended->stopped, ended->counts, ports_->now());
        } else if (auto* led = std::get_if<RecordLed>(&said.what)) {
          on_led(std::move(*led));
        } else if (auto* unread = std::get_if<mail::Unread>(&said.what)) {
          gateway_.on_unread(said.job, std::move(unread->tasks));
        } else if (std::holds_alternative<mail::RecordGone>(said.what)) {
          ports_->forget_details(said.job);
          gateway_.on_record_over(said.job, ports_->now());
        } else {
          look_up(said.job);
          ports_->forget_details(said.job);
          ports_->job_ended(said.job, false);
          gateway_.on_lost(said.job, std::get<client::JobLost>(said.what).why, ports_->now());
        }
        act();
      },
      [this](mail::Spilled& spilled) {
        gateway_.on_spilled(std::move(spilled.settled), spilled.written);
        act();
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;
        wake_at_.reset();
        host_.on_time(ports_->now());
        gateway_.on_time(ports_->now());
        act();
      },
  };
}

void KeeperActor::on_exit() { node_ = nullptr; }

void KeeperActor::on_led(RecordLed news) {
  news.age = std::max(Duration{0}, ports_->since_1970() - Duration(news.submission.accepted_unix_ns));
  const JobId job = news.plan->job;
  if (!news.leads) {
    led_.erase(job);
    ports_->job_closed(job);
  } else if (led_.insert(job).second) {
    ports_->job_begins(*news.plan);
  }
  gateway_.on_led(std::move(news), ports_->now());
}

void KeeperActor::let_programs_go(std::uint64_t bytes) {
  if (!gateway_.has_read_all()) return;
  const Instant now = ports_->now();
  looked_at_shelf_ = now;
  std::set<ProgramId> needed = gateway_.needed_programs();
  needed.merge(host_.needed_programs());
  for (const ProgramId program : shelf_.make_room(bytes, needed, now)) {
    host_.on_program_gone(program);
    gateway_.on_program_gone(program);
    ports_->drop_program(program);
  }
}

/// The gateway's answers about one job must be current.
void KeeperActor::look_up(JobId job) {
  if (auto details = ports_->details(job)) gateway_.on_details(job, *std::move(details));
}

void KeeperActor::heard(Life from, KeeperMessage any) {
  const Instant now = ports_->now();
  if (auto* program = std::get_if<keeper::ProgramBytes>(&any)) {
    if (host_.has(program->program)) return;
    if (!program->bytes && is_node(from.process))
      return host_.on_program_missing(from, program->program, now);
    let_programs_go(program->bytes.size_bytes());
    std::optional<Error> refused;
    if (const Status kept = ports_->keep_program(program->program, program->bytes); !kept) {
      refused = kept.error();
    } else {
      shelf_.use(program->program, now);
    }
    host_.on_program(program->program, refused, now);
    gateway_.on_program(program->program, refused, now);
  } else if (auto* copy = std::get_if<keeper::SaveCopy>(&any)) {
    ports_->keep_save(std::move(*copy));
  } else {
    // The sender of KeepProgram may rely for a while on the program staying here.
    const auto* keep = std::get_if<keeper::KeepProgram>(&any);
    if (keep != nullptr && host_.has(keep->program)) shelf_.use(keep->program, now);
    host_.on_message(from, any, now);
    gateway_.on_keeper_message(from, any, now);
  }
}

void KeeperActor::act() {
  // A message from one half makes the other half send messages in turn. The loop ends, since each such
  // message opens or closes one worker process.
  for (bool again = true; again;) {
    again = false;
    for (GatewayEffect& effect : gateway_.take_effects()) {
      again = true;
      carry_out(std::move(effect));
    }
    for (HostEffect& effect : host_.take_effects()) {
      again = true;
      carry_out(std::move(effect));
    }
  }
  std::optional<Instant> wake = host_.wake_at();
  if (const auto of_gateway = gateway_.wake_at(); of_gateway && (!wake || *of_gateway < *wake))
    wake = of_gateway;
  if (wake && (!wake_at_ || *wake < *wake_at_)) {
    wake_at_ = wake;
    delayed_send(this, std::max(*wake - ports_->now(), Duration{0}), mail::Tick{*wake});
  }
}

void KeeperActor::send_keeper(SendToKeeper effect) {
  if (effect.to == setup_.self) {
    heard(setup_.self, std::move(effect.message));
  } else {
    ports_->send(effect.to, std::move(effect.message));
  }
}

void KeeperActor::carry_out(HostEffect any) {
  std::visit(
      [&](auto& effect) {
        using Effect = std::remove_cvref_t<decltype(effect)>;
        if constexpr (std::is_same_v<Effect, SendToKeeper>) {
          send_keeper(std::move(effect));
        } else if constexpr (std::is_same_v<Effect, SendProgram>) {
          send_keeper({effect.to, keeper::ProgramBytes{effect.program, ports_->program(effect.program)}});
        } else if constexpr (std::is_same_v<Effect, StartProcess>) {
          ports_->start_process(std::move(effect));
        } else if constexpr (std::is_same_v<Effect, StopProcess>) {
          ports_->stop_process(effect.life);
        } else {
          ports_->forget(effect.life);
        }
      },
      any);
}

void KeeperActor::carry_out(GatewayEffect any) {
  std::visit(
      [&](auto& effect) {
        using Effect = std::remove_cvref_t<decltype(effect)>;
        if constexpr (std::is_same_v<Effect, SendToClient>) {
          ports_->send(effect.to, std::move(effect.message));
        } else if constexpr (std::is_same_v<Effect, SendToKeeper>) {
          send_keeper(std::move(effect));
        } else if constexpr (std::is_same_v<Effect, LifeAt>) {
          ports_->life_at(effect);
        } else if constexpr (std::is_same_v<Effect, ForgetLife>) {
          ports_->forget(effect.life);
        } else if constexpr (std::is_same_v<Effect, BeginJob>) {
          ports_->job_begins(*effect.plan);
          send(node_, mail::Submit{std::move(effect.plan), std::move(effect.lives), effect.submitted,
                                   retry_mail(effect.retry)});
        } else if constexpr (std::is_same_v<Effect, RecordJob>) {
          effect.submission.accepted_unix_ns = ports_->since_1970().count();
          send(node_,
               mail::Record{std::move(effect.plan), bytes_of(effect.submission), retry_mail(effect.retry)});
        } else if constexpr (std::is_same_v<Effect, JobLivesUp>) {
          send(node_, mail::LivesUp{effect.job, std::move(effect.lives)});
        } else if constexpr (std::is_same_v<Effect, JobLifeDown>) {
          keeper::WorkerDown& down = effect.down;
          LifeEnd how{down.end, std::move(down.text), std::move(down.running), down.guilty_lane};
          send(node_, mail::LifeDown{down.life, effect.job, std::move(how)});
        } else if constexpr (std::is_same_v<Effect, WantOutput>) {
          send(node_, mail::Want{effect.job, effect.task, effect.at_rest});
        } else if constexpr (std::is_same_v<Effect, CancelJob>) {
          send(node_, mail::CancelJob{effect.job});
        } else if constexpr (std::is_same_v<Effect, StopJob>) {
          send(node_, mail::StopJob{effect.job, std::move(effect.why)});
        } else if constexpr (std::is_same_v<Effect, CloseJob>) {
          send(node_, mail::ForgetJob{effect.job});
          led_.erase(effect.job);
          ports_->job_closed(effect.job);
        } else if constexpr (std::is_same_v<Effect, SpillResult>) {
          ports_->spill(std::move(effect.settled));
        } else if constexpr (std::is_same_v<Effect, ReadJournal>) {
          read_journal(effect);
        } else if constexpr (std::is_same_v<Effect, Drain>) {
          host_.drain(effect.draining);
          ports_->drain(effect.draining);
        } else {
          host_.stop_all();
          ports_->shut_down();
        }
      },
      any);
}

void KeeperActor::read_journal(ReadJournal& effect) {
  if (ports_->read_journal(effect.client, effect.what)) return;
  client::Answer no;
  no.number = effect.what.number;
  no.error = Error{ErrorCode::configuration_invalid, to_string(setup_.self.process) + " keeps no journal",
                   "nodes do unless `journal = false` is set"};
  ports_->send(effect.client, ClientMessage(std::move(no)));
}

JobCounts job_counts(const CellCounts& counts) {
  return {counts.open,    counts.finished,  counts.failed,
          counts.skipped, counts.cancelled, counts.failures_tolerated()};
}

// ---- The news of jobs

void TellsKeeper::tell(mail::JobSaid said) const {
  if (keeper_) caf::anon_send(keeper_, std::move(said));
}

void TellsKeeper::settled(JobId job, std::uint32_t task, Outcome outcome, Blob output,
                          std::optional<Error> error) {
  tell({job, client::TaskSettled{job, task, outcome, std::move(output), std::move(error)}});
}

void TellsKeeper::progress(JobId job, const CellCounts& counts) { tell({job, job_counts(counts)}); }

void TellsKeeper::ends(JobId job, const Cell& cell) { tell({job, mail::Unread{cell.unread()}}); }

void TellsKeeper::ended(JobId job, std::optional<Error> stopped, const CellCounts& counts) {
  tell({job, client::JobEnded{job, std::move(stopped), job_counts(counts)}});
}

void TellsKeeper::lost(JobId job, Error why) { tell({job, client::JobLost{job, std::move(why)}}); }

void TellsKeeper::led(RecordLed&& news) {
  const JobId job = news.plan->job;
  tell({job, std::move(news)});
}

void TellsKeeper::record_over(JobId job) { tell({job, mail::RecordGone{}}); }

}  // namespace dag
