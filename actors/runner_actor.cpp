#include "actors/runner_actor.hpp"

#include "actors/digest_actor.hpp"
#include "actors/exceptions.hpp"
#include "actors/waiting_for.hpp"
#include "libdag/home/finish_placer.hpp"

namespace dag {

RunnerActor::RunnerActor(caf::actor_config& config, RunnerOptions options,
                         std::shared_ptr<const JobPlan> plan, LanesPort& lanes, Ports ports,
                         RecordSink& records, caf::actor node)
    : event_based_actor(config),
      lanes_(lanes),
      ports_(std::move(ports)),
      node_(std::move(node)),
      plan_(plan),
      attempts_(*this, lanes, plan->representation),
      runner_(options, plan, records) {}

caf::behavior RunnerActor::make_behavior() {
  set_exception_handler(keep_text);
  return working();
}

/// The disk is asked before the first state, which is answered with all that is here: whatever comes
/// meanwhile waits.
bool RunnerActor::asks_disk() {
  if (disk_asked_ || !ports_.saves_of) return false;
  disk_asked_ = true;
  return ports_.saves_of(*plan_,
                         [self = caf::actor_cast<caf::actor_addr>(this)](std::vector<KeepSave> saves) {
                           if (const auto alive = caf::actor_cast<caf::actor>(self))
                             caf::anon_send(alive, mail::SavesFound{std::move(saves)});
                         });
}

void RunnerActor::wait_for_disk(mail::Incoming state) {
  set_default_handler(caf::skip);
  become([this, state = std::move(state)](mail::SavesFound& found) {
    for (KeepSave& save : found.saves) runner_.found(std::move(save));
    set_default_handler(caf::print_and_drop);
    become(working());
    runner_.on_state(std::get<message::JobState>(state.message), ports_.now());
    act();
  });
}

/// Keeps a save on the disk here, and on those of all nodes with a copy of the record.
void RunnerActor::keep(KeepSave save) {
  if (!ports_.keep_save) return;
  const detail::Fragment& graph = *plan_->graph;
  const TaskId task = save.name.task;
  keeper::SaveCopy copy{plan_->job, plan_->name, {}, std::move(save)};
  const message::SavedAs& as = copy.save.as;
  if (as.members == 0) {
    copy.actor_name = task.origin == 0 ? graph.names[graph.kind(task.index).name] : to_string(task);
  } else if (as.actor < graph.actors.size()) {
    copy.actor_name = graph.names[graph.actors[as.actor].name];
  }
  send(node_, mail::SaveHere{copy});
  ports_.keep_save(std::move(copy));
}

caf::behavior RunnerActor::working() {
  return {
      [this](mail::AttemptEnded& end) {
        attempts_.ended(end.ended);
        runner_.on_ended(std::move(end.ended), ports_.now());
        act();
      },
      [this](mail::Checkpointed& kept) {
        runner_.on_checkpoint(kept.task, kept.attempt, std::move(kept.saved));
        act();
      },
      [this](const mail::Incoming& incoming) {
        if (const auto* state = std::get_if<message::JobState>(&incoming.message)) {
          if (asks_disk()) return wait_for_disk(incoming);
          runner_.on_state(*state, ports_.now());
        } else {
          runner_.on_message(incoming.from, incoming.message, ports_.now());
        }
        act();
      },
      [this](mail::Publish& publish) {
        runner_.publish(std::move(publish.record), std::move(publish.bytes));
        act();
      },
      [this](mail::Bring& bring) {
        asked_[bring.ticket] = caf::actor_cast<caf::actor>(current_sender());
        runner_.bring(bring.ticket, bring.record, std::move(bring.holders), ports_.now());
        act();
      },
      [this](mail::Explain& question) {
        runner_.explain(question.what, ports_.now(), question.process.taken);
        if (question.what.outputs) runner_.count_held(question.held);
        question.process.held = question.held.take();
        for (auto* tasks : {&question.process.tasks, &question.process.taken}) {
          for (TaskExplained& task : *tasks) {
            if (const auto place = question.places.find(task.task); place != question.places.end())
              task.place = place->second;
          }
        }
        question.done(std::move(question.process));
      },
      [this](const mail::Steal& steal) {
        questions_.ask(steal.thief, steal.slots, ports_.now());
        act();
      },
      [this](const mail::Digested& digested) {
        runner_.on_digest(digested.name, digested.digest);
        act();
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;  // An earlier one was set since.
        wake_at_.reset();
        runner_.on_time(ports_.now());
        act();
      },
  };
}

caf::actor RunnerActor::spawn_digests() {
  const auto self = caf::actor_cast<caf::actor>(this);
  if (!ports_.give_way) return spawn<DigestActor, caf::linked>(self, nullptr);
  return spawn<DigestActor, caf::linked + caf::detached>(self, ports_.give_way);
}

void RunnerActor::on_exit() {
  lanes_.actors().forget_job(plan_->job);
  asked_.clear();
  digests_ = nullptr;
  node_ = nullptr;
}

/// Attempts that homes elsewhere lent to this process, and that no lane has begun, are given to idle
/// processes while they wait here behind long tasks.
void RunnerActor::answer_thieves() {
  questions_.answer(
      ports_.now(), lending_round_trip, [this] { return waiting_for(lanes_, runner_.mean_run()); },
      [this](Life thief, std::uint32_t rows) {
        const std::vector<OutputName> attempts = lanes_.take_attempts(
            plan_->job, rows, [this](const OutputName& attempt) { return runner_.may_give(attempt); });
        for (const OutputName& attempt : attempts) {
          attempts_.give(attempt);
          runner_.give(attempt, thief);
        }
        if (!attempts.empty() && ports_.stolen) ports_.stolen(thief, attempts.size());
        return !attempts.empty();
      });
}

void RunnerActor::act() {
  if (ports_.inspect) ports_.inspect([this] { runner_.check_invariants(); });
  if (!questions_.empty()) answer_thieves();
  mail::Outgoing outgoing;
  for (RunnerEffect& effect : runner_.take_effects()) {
    std::visit(
        [&](auto& what) {
          using What = std::remove_cvref_t<decltype(what)>;
          if constexpr (std::is_same_v<What, StartAttempt>) {
            attempts_.start(std::move(what));
          } else if constexpr (std::is_same_v<What, StopAttempt>) {
            attempts_.stop(what);
          } else if constexpr (std::is_same_v<What, SendMessage>) {
            if (std::holds_alternative<message::Report>(what.message)) {
              send(node_, mail::Vouch{std::move(what), {}});
            } else {
              outgoing.messages.push_back(std::move(what));
            }
          } else if constexpr (std::is_same_v<What, TakeDigest>) {
            if (!digests_) digests_ = spawn_digests();
            send(digests_, mail::TakeDigest{std::move(what)});
          } else if constexpr (std::is_same_v<What, LeaseLost>) {
            const std::string why =
                "this process could not renew its lease, under which it runs the exclusive task " +
                to_string(what.task) + " of " + to_string(plan_->job);
            if (ports_.end_now) ports_.end_now(why);
          } else if constexpr (std::is_same_v<What, KeepSave>) {
            keep(std::move(what));
          } else {
            const auto waiting = asked_.find(what.ticket);
            if (waiting == asked_.end()) return;
            send(waiting->second, mail::Brought{std::move(what)});
            asked_.erase(waiting);
          }
        },
        effect);
  }
  if (!outgoing.messages.empty()) send(node_, std::move(outgoing));
  std::optional<Instant> wake = runner_.wake_at();
  if (const auto again = questions_.look_again_at(); again && (!wake || *again < *wake)) wake = again;
  if (wake && (!wake_at_ || *wake < *wake_at_)) {
    wake_at_ = wake;
    delayed_send(this, std::max(*wake - ports_.now(), Duration{0}), mail::Tick{*wake});
  }
}

}  // namespace dag
