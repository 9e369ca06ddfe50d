#include "libdag/here/job_here.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/base/overloaded.hpp"

namespace dag {

JobHere::JobHere(RunnerOptions options, std::shared_ptr<const JobPlan> plan, JobPorts& ports,
                 EventSink& records)
    : self_(options.self),
      ports_(ports),
      router_(options.self),
      runner_(options, std::move(plan), records),
      lender_(ports) {}

// ---- Events

void JobHere::open() {
  router_.open();
  take_routes();
}

Admission JobHere::on_message(Life from, JobMessage message) {
  const Admission admission = router_.on_message(from, std::move(message));
  take_routes();
  return admission;
}

void JobHere::take_routes() {
  for (JobRoute& route : router_.take_routes()) waiting_.emplace_back(std::move(route));
}

void JobHere::on_time(Instant now) {
  const auto is_due = [&](std::optional<Instant> at) { return at && *at <= now; };
  if (is_due(runner_.wake_at())) waiting_.emplace_back(Woken{});
  for (const auto& [shard, here] : homes_) {
    if (is_due(here->home.wake_at())) waiting_.emplace_back(Woken{shard});
  }
}

template <class Tell>
void JobHere::tell_home(std::uint32_t shard, Tell&& tell) {
  const auto found = homes_.find(shard);
  if (found == homes_.end()) return;
  Home& home = found->second->home;
  tell(home);
  look_at_home(shard, home);
}

void JobHere::on_lanes(std::uint32_t shard, LaneReport report, Instant now) {
  tell_home(shard, [&](Home& home) { home.on_lanes(std::move(report), now); });
}

void JobHere::on_reach(std::uint32_t shard, std::vector<Life> lives, Instant now, bool others_by_link) {
  tell_home(shard, [&](Home& home) { home.on_reach(std::move(lives), now, others_by_link); });
}

bool JobHere::on_ended(AttemptEnd ended, Instant now) {
  if (runner_.on_ended(ended, now)) {
    look_at_runner();
    return true;
  }
  for (const auto& [shard, here] : homes_) {
    if (!here->home.on_ended(ended, now)) continue;
    look_at_home(shard, here->home);
    return true;
  }
  return false;
}

void JobHere::on_checkpoint(TaskId task, AttemptId id, Saved saved) {
  runner_.on_checkpoint(task, id, std::move(saved));
  look_at_runner();
}

void JobHere::on_digest(const OutputName& name, std::uint64_t digest) {
  runner_.on_digest(name, digest);
  look_at_runner();
}

void JobHere::bring(std::uint64_t ticket, const OutcomeRecord& record, std::vector<Life> holders,
                    Instant now) {
  runner_.bring(ticket, record, std::move(holders), now);
  look_at_runner();
}

void JobHere::publish(OutcomeRecord record, Blob bytes) {
  runner_.publish(std::move(record), std::move(bytes));
  look_at_runner();
}

std::optional<Instant> JobHere::wake_at() const {
  std::optional<Instant> wake = runner_.wake_at();
  const auto earlier = [&](std::optional<Instant> at) {
    if (at && (!wake || *at < *wake)) wake = at;
  };
  for (const auto& [shard, here] : homes_) earlier(here->home.wake_at());
  earlier(lender_.look_again_at());
  return wake;
}

// ---- Steps

bool JobHere::step(Instant now) { return handle_next(now) || answer_thief(now); }

bool JobHere::handle_next(Instant now) {
  if (waiting_.empty()) return false;
  Event event = std::move(waiting_.front());
  waiting_.pop_front();
  std::visit(Overloaded{[&](JobRoute& route) { carry_out(route, now); },
                        [&](const Woken& woken) { wake(woken, now); }},
             event);
  return true;
}

bool JobHere::answer_thief(Instant now) {
  if (!lender_.answer(homes_, runner_, now)) return false;
  look();
  if (const auto lent = lender_.take_lent()) effects_.emplace_back(*lent);
  return true;
}

/// Thieves wait while something leaves: the lanes have to get their rows first.
std::vector<JobEffect> JobHere::run(Instant now) {
  std::vector<JobEffect> leaving;
  do {
    while (handle_next(now)) {
    }
    for (JobEffect& effect : take_effects()) {
      auto* own = std::get_if<SendMessage>(&effect);
      if (own != nullptr && own->to == self_) {
        on_message(self_, std::move(own->message));
      } else {
        leaving.push_back(std::move(effect));
      }
    }
  } while (!waiting_.empty() || (leaving.empty() && answer_thief(now)));
  return leaving;
}

void JobHere::carry_out(JobRoute& any, Instant now) {
  std::visit(Overloaded{[&](HandOn& event) { hand_on(event, now); },
                        [&](BeginHome& which) { begin_home(which, now); },
                        [&](EndHome& which) { end_home(which.shard); },
                        [&](AskedForWork& asked) { lender_.ask(asked, now); },
                        [&](auto& others) { effects_.emplace_back(std::move(others)); }},
             any);
}

void JobHere::hand_on(HandOn& event, Instant now) {
  const auto* state = std::get_if<message::JobState>(&event.message);
  switch (event.to) {
    case Recipient::process:
      break;
    case Recipient::cell:
      effects_.emplace_back(TellCell{event.from, std::move(event.message)});
      break;
    case Recipient::runner:
      state != nullptr ? runner_.on_state(*state, now) : runner_.on_message(event.from, event.message, now);
      look_at_runner();
      break;
    case Recipient::home: {
      Home& home = homes_.at(event.shard)->home;
      state != nullptr ? home.on_state(*state, now) : home.on_message(event.from, event.message, now);
      look_at_home(event.shard, home);
      break;
    }
  }
}

void JobHere::begin_home(const BeginHome& which, Instant now) {
  std::unique_ptr<HomeHere> made = ports_.make_home(which);
  Home& home = made->home;
  DAG_CHECK(home.options().shard == which.shard);
  DAG_CHECK(home.epoch() == which.epoch);
  homes_[which.shard] = std::move(made);
  if (which.assign) {
    home.recover(*which.assign, which.state, now);
  } else {
    home.begin(which.state, now);
  }
  look_at_home(which.shard, home);
  effects_.emplace_back(HomeBegan{which.shard});
}

void JobHere::end_home(std::uint32_t shard) {
  auto ended = homes_.extract(shard);
  DAG_CHECK(!ended.empty());
  ports_.end_home(std::move(ended.mapped()));
}

void JobHere::wake(const Woken& woken, Instant now) {
  if (!woken.shard) {
    runner_.on_time(now);
    return look_at_runner();
  }
  tell_home(*woken.shard, [&](Home& home) { home.on_time(now); });
}

// ---- Effects

std::vector<JobEffect> JobHere::take_effects() { return std::exchange(effects_, {}); }

void JobHere::look() {
  look_at_runner();
  for (const auto& [shard, here] : homes_) look_at_home(shard, here->home);
}

void JobHere::look_at_home(std::uint32_t shard, Home& home) {
  bool published = false;
  for (HomeEffect& any : home.take_effects()) {
    std::visit(Overloaded{[&](MakeReady& ready) {
                            effects_.emplace_back(OfferRow{shard, ready.row, ready.priority});
                          },
                          [&](PublishOutput& output) {
                            runner_.publish(std::move(output.record), std::move(output.bytes));
                            published = true;
                          },
                          [&](auto& others) { effects_.emplace_back(std::move(others)); }},
               any);
  }
  if (published) look_at_runner();
}

/// A report says what homes here know, too.
void JobHere::look_at_runner() {
  for (RunnerEffect& any : runner_.take_effects()) {
    if (auto* message = std::get_if<SendMessage>(&any)) {
      if (auto* report = std::get_if<message::Report>(&message->message)) {
        for (const auto& [shard, here] : homes_) here->home.vouch(*report);
      }
    }
    std::visit([&](auto& what) { effects_.emplace_back(std::move(what)); }, any);
  }
}

// ---- For people

void JobHere::explain(const TaskSelector& wanted, Instant now, ProcessExplained& to) const {
  HeldSum held;
  for (const auto& [shard, here] : homes_) {
    here->home.explain(wanted, now, to);
    if (wanted.outputs) here->home.count_held(held);
    if (wanted.critical_path) here->home.critical_path(now, to.critical_path);
  }
  runner_.explain(wanted, now, to.taken);
  if (wanted.outputs) runner_.count_held(held);
  to.held = held.take();
}

// ---- What must hold

void JobHere::check_invariants() const {
  router_.check_invariants();
  for (const auto& [shard, here] : homes_) here->home.check_invariants();
  runner_.check_invariants();
  if (!waiting_.empty()) return;  // Homes begin and end in steps.
  DAG_CHECK(homes_.size() == router_.homes().size());
  for (const auto& [shard, here] : homes_) {
    DAG_CHECK(router_.homes().contains(shard));
    DAG_CHECK(here->home.epoch() == router_.homes().at(shard));
  }
}

}  // namespace dag
