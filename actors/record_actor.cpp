#include "actors/record_actor.hpp"

#include "actors/exceptions.hpp"
#include "actors/retrying.hpp"
#include "libdag/base/overloaded.hpp"
#include "libdag/replica/submission.hpp"

namespace dag {
namespace {

/// Hosts tell a new leader of their processes; one that nobody has told of for so long is gone.
constexpr Duration unknown_for = std::chrono::seconds(3);

CellReplicaOptions options_of(const RecordSetup& setup) {
  const RecordOptions& record = setup.options;
  CellReplicaOptions options;
  options.self = setup.self;
  options.log.self = record.seat;
  options.log.seed =
      setup.job.value ^ (std::uint64_t{setup.self.process.value} << 32) ^ setup.self.incarnation.value;
  options.log.election_timeout = record.election_timeout;
  options.copies_wanted = record.copies_wanted;
  options.witness = record.witness;
  options.unknown_for = unknown_for;
  options.codes = record.codes;
  return options;
}

}  // namespace

RecordActor::RecordActor(caf::actor_config& config, RecordSetup setup, const Ports& ports, EventSink& records,
                         caf::actor node)
    : event_based_actor(config),
      setup_(std::move(setup)),
      ports_(ports),
      node_(std::move(node)),
      voice_(setup_.job, *ports_.listener),
      replica_(options_of(setup_), std::exchange(setup_.stored, {}), records, ports_.process.now()) {
  on_seats(setup_.seats);
  for (const Life life : setup_.nodes) {
    nodes_[life.process] = life;
    replica_.on_life_up(life, ports_.process.now(), false);
  }
}

caf::behavior RecordActor::make_behavior() {
  set_exception_handler(keep_text);
  if (setup_.begins) begin();
  act();
  return {
      [this](const mail::CopySaid& copy) {
        nodes_.try_emplace(copy.from.process, copy.from);
        if (std::holds_alternative<consensus::Over>(copy.said.message)) {
          if (!std::exchange(told_over_, true)) send(node_, mail::RecordOver{setup_.job});
          return;
        }
        replica_.on_replica_message(copy.said.message, ports_.process.now());
        act();
      },
      [this](const mail::Incoming& incoming) {
        replica_.on_message(incoming.from, incoming.message, ports_.process.now());
        act();
      },
      [this](const mail::Want& want) {
        voice_.rest(want.at_rest);
        if (!want.at_rest) replica_.keep({TaskId{0, want.task}}, ports_.process.now());
        replica_.follow(ClientVoice::submitter, {TaskId{0, want.task}}, ports_.process.now());
        act();
      },
      [this](const mail::CancelJob&) {
        // Where it is not taken, or is lost, this copy does not lead any more, and the gateway hears of that.
        replica_.cancel({}, ports_.process.now());
        act();
      },
      [this](mail::StopJob& stop) {
        replica_.stop(std::move(stop.why), ports_.process.now());
        act();
      },
      [this](const mail::ForgetJob&) {
        replica_.close(ports_.process.now());
        act();
      },
      [this](const mail::LivesUp& up) {
        replica_.on_lives_up(up.lives, ports_.process.now());
        act();
      },
      [this](const mail::LifeUp& up) {
        nodes_[up.life.process] = up.life;
        replica_.on_life_up(up.life, ports_.process.now(), false);
        act();
      },
      [this](const mail::LifeDown& down) {
        const auto node = nodes_.find(down.life.process);
        if (node != nodes_.end() && node->second == down.life) nodes_.erase(node);
        replica_.on_life_down(down.life, ports_.process.now(), down.how);
        act();
      },
      [this](mail::Seats& seats) {
        on_seats(std::move(seats));
        act();
      },
      [this](const mail::JobOpened& opened) {
        job_ = opened.job;
        if (const auto retry = std::exchange(unoffered_, std::nullopt)) offer_outputs(*retry, job_);
        for (mail::Bring& order : std::exchange(unbrought_, {})) bring(std::move(order));
      },
      [this](const mail::SaveHere& save) { send_save(save.copy); },
      [this](mail::Record& order) {
        if (replica_.cell() == nullptr) return;
        say_what_is_done(*order.retry, replica_.cell()->snapshot(), order.plan->job);
        send(node_, std::move(order));
      },
      [this](const mail::Written& written) {
        replica_.on_written(written.number, ports_.process.now());
        act();
      },
      [this](mail::Brought& arrived) { voice_.on_brought(std::move(arrived.brought)); },
      [this](mail::ProgressDue) {
        voice_.tell_progress(replica_.leads() ? &replica_.cell()->counts() : nullptr);
        act();
      },
      [this](const mail::Tick& tick) {
        if (wake_at_ != tick.due) return;
        wake_at_.reset();
        replica_.on_time(ports_.process.now());
        act();
      },
  };
}

void RecordActor::on_exit() {
  node_ = nullptr;
  job_ = nullptr;
}

/// For the disks of the other copies.
void RecordActor::send_save(const keeper::SaveCopy& copy) {
  const std::size_t size = copy.save.bytes.size_bytes();
  for (const consensus::Seat& seat : replica_.log().configuration().voters) {
    if (seat.node == setup_.self.process) continue;
    if (size > setup_.options.save_bytes_max) {
      if (std::exchange(told_too_large_, true)) return;
      return ports_.process.log("a save of " + to_string(setup_.job) + " " + copy.job_name + ", " +
                                copy.actor_name + ", has " + std::to_string(size) +
                                " bytes; those of more than " +
                                std::to_string(setup_.options.save_bytes_max) +
                                " are on the disk of this node alone, and lost with it");
    }
    if (const auto life = nodes_.find(seat.node); life != nodes_.end())
      ports_.replicas->send(life->second, copy);
  }
}

void RecordActor::on_seats(mail::Seats seats) {
  replica_.on_disk_full(seats.disk_full, ports_.process.now());
  replica_.on_sick(seats.sick, ports_.process.now());
  replica_.on_seats(std::move(seats.alive), std::move(seats.leaving), ports_.process.now());
}

/// The first copies: here, and at the nodes that the job's number ranks first.
void RecordActor::begin() {
  std::vector<consensus::Candidate> seats = setup_.seats.alive;
  if (seats.empty()) seats.push_back({setup_.options.seat, 1});
  consensus::Configuration genesis{{setup_.options.seat}, {}};
  const std::size_t copies = consensus::copies_for(setup_.options.copies_wanted, seats.size());
  for (const consensus::Seat& seat : consensus::ranked(setup_.job.value, seats)) {
    if (genesis.voters.size() == copies) break;
    if (seat.node != setup_.self.process) genesis.voters.push_back(seat);
  }
  std::sort(genesis.voters.begin(), genesis.voters.end());
  // However many copies there are now, more may come.
  const auto replicas = static_cast<std::uint32_t>(std::max<std::size_t>(2, setup_.options.copies_wanted));
  auto& retry = setup_.begins->retry;
  CellSnapshot state =
      retry ? std::move(retry->begins->genesis) : genesis_of(setup_.begins->plan, false, replicas);
  state.replicas = replicas;
  state.attached = setup_.begins->submission;
  replica_.begin(std::move(genesis), state, true, ports_.process.now());
  if (!retry) return;
  tell_results(*retry, setup_.job, *ports_.listener);
  unoffered_ = std::move(retry);
}

void RecordActor::act() {
  mail::Outgoing outgoing;
  // Looked at with each beat, so the leader goes on soon after the disk has caught up.
  if (ports_.log) replica_.on_disk_behind(ports_.log->is_behind(), ports_.process.now());
  // A write to memory alone is done at once and has effects in turn; each round writes less than the one
  // before.
  for (auto effects = replica_.take_effects(); !effects.empty(); effects = replica_.take_effects()) {
    for (CellReplicaEffect& any : effects) carry_out(any, outgoing);
  }
  if (!outgoing.messages.empty()) send(node_, std::move(outgoing));
  const Cell* cell = replica_.cell();
  if (cell != nullptr && !std::exchange(told_here_, true)) send(node_, mail::RecordHere{cell->plan()});
  look_who_leads();
  if (cell != nullptr && cell->is_closed() && !std::exchange(told_over_, true)) {
    if (replica_.leads()) tell_copies_over();
    send(node_, mail::RecordOver{setup_.job});
  }
  if (cell != nullptr && replica_.leads() && voice_.owes_progress(cell->counts()))
    delayed_send(this, ClientVoice::progress_every, mail::ProgressDue{});
  wake();
}

void RecordActor::wake() {
  if (told_over_) return;
  const Instant due = replica_.due();
  if (wake_at_ && *wake_at_ <= due) return;
  wake_at_ = due;
  delayed_send(this, std::max(due - ports_.process.now(), Duration{0}), mail::Tick{due});
}

void RecordActor::carry_out(CellReplicaEffect& any, mail::Outgoing& outgoing) {
  std::visit(Overloaded{[&](SendToReplica& one) { send_to(one.to, std::move(one.message)); },
                        [&](WriteToLog& one) { write(std::move(one)); }, [&](const LeadsNow&) {},
                        [&](const NoSnapshot& one) {
                          ports_.process.log("the log of " + to_string(setup_.job) +
                                             " keeps growing: " + one.why.what);
                        },
                        [&](SendMessage& one) { outgoing.messages.push_back(std::move(one)); },
                        [&](TellClient& one) {
                          if (auto order = voice_.tell(std::move(one))) bring(*std::move(order));
                        },
                        [&](JobIsOver& one) {
                          look_who_leads();
                          ports_.listener->ends(setup_.job, *replica_.cell());
                          ports_.listener->ended(setup_.job, std::move(one.stopped),
                                                 replica_.cell()->counts());
                        }},
             any);
}

void RecordActor::write(WriteToLog order) {
  const std::uint64_t number = order.number;
  if (!ports_.log) return replica_.on_written(number, ports_.process.now());
  ports_.log->write(setup_.job, std::move(order.change),
                    [number, self = caf::actor_cast<caf::actor_addr>(this)] {
                      if (const auto alive = caf::actor_cast<caf::actor>(self))
                        caf::anon_send(alive, mail::Written{number});
                    });
}

void RecordActor::send_to(ProcessId node, consensus::Message message) {
  if (const auto life = nodes_.find(node); life != nodes_.end())
    ports_.replicas->send(life->second, consensus::Addressed{setup_.job, std::move(message)});
}

/// Copies that miss this ask for votes when this one has been silent for long, and are told then.
void RecordActor::tell_copies_over() {
  for (const consensus::Seat& seat : replica_.log().configuration().voters) {
    if (seat.node != setup_.self.process)
      send_to(seat.node, consensus::Over{setup_.options.seat, replica_.log().term()});
  }
}

void RecordActor::bring(mail::Bring order) {
  if (job_) {
    send(job_, std::move(order));
  } else {
    unbrought_.push_back(std::move(order));
  }
}

void RecordActor::look_who_leads() {
  const Cell* cell = replica_.cell();
  if (cell == nullptr) return;
  Told now_so{replica_.leads(),        replica_.leader(),
              replica_.applied() > 0,  replica_.without_majority(),
              replica_.is_cancelled(), {}};
  for (const consensus::Seat& seat : replica_.log().configuration().voters)
    now_so.copies.push_back(seat.node);
  if (told_ == now_so) return;
  told_ = now_so;
  RecordLed news;
  news.plan = cell->plan();
  news.submission = submission_of(cell->attached());
  news.leads = now_so.leads;
  news.leader = now_so.leader;
  news.settled = now_so.settled;
  news.without_majority = now_so.without_majority;
  news.cancelled = now_so.cancelled;
  news.copies = now_so.copies;
  news.term = cell->state().term;
  news.lives = message::lives_that_run(cell->state());
  for (const message::ShardHome& home : cell->state().homes) news.begun = news.begun || home.home != Life{};
  ports_.listener->led(std::move(news));
}

}  // namespace dag
