#include "tools/sim/log_world.hpp"

#include <cstring>

#include "libdag/base/overloaded.hpp"

namespace dag::sim {

using namespace consensus;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Blob bytes_of(std::uint64_t command) { return Blob(std::as_bytes(std::span(&command, 1))); }

std::string line_of(const Seat& seat) {
  return "n" + std::to_string(seat.node.value) + "/" + std::to_string(seat.disk);
}

std::string line_of(const Message& message) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return std::visit(
      Overloaded{
          [&](const AskVote& one) {
            return line_of(one.from) + (one.pre ? " would lead " : " asks to lead ") + number(one.term) +
                   " with " + number(one.last_index) + " of " + number(one.last_term);
          },
          [&](const VoteAnswer& one) {
            return line_of(one.from) + (one.granted ? " grants " : " refuses ") + number(one.term) +
                   (one.pre ? " (pre)" : "");
          },
          [&](const Append& one) {
            return line_of(one.from) + " appends " + number(one.entries.size()) + " behind " +
                   number(one.previous_index) + " of " + number(one.previous_term) + ", settled " +
                   number(one.settled) + ", term " + number(one.term);
          },
          [&](const AppendAnswer& one) {
            return line_of(one.from) +
                   (one.empty     ? " has nothing "
                    : one.matches ? " has "
                                  : " differs at ") +
                   number(one.index) + ", term " + number(one.term);
          },
          [&](const SnapshotPiece& one) {
            return line_of(one.from) + " sends its snapshot of " + number(one.index) + " from byte " +
                   number(one.offset) + " of " + number(one.size_bytes);
          },
          [&](const SnapshotAnswer& one) {
            return line_of(one.from) + " has " + number(one.received_bytes) + " bytes of snapshot " +
                   number(one.index);
          },
          [&](const Outdated& one) { return line_of(one.from) + " is in term " + number(one.term); },
          [&](const Over& one) { return line_of(one.from) + " holds it to be over"; },
          [&](const TakeOver& one) { return line_of(one.from) + " hands over, term " + number(one.term); }},
      message);
}

}  // namespace

Blob LogWorld::State::bytes() const { return Blob(std::as_bytes(std::span(commands))); }

LogWorld::State LogWorld::State::of(const Blob& bytes) {
  State state;
  state.commands.resize(bytes.size_bytes() / sizeof(std::uint64_t));
  if (!state.commands.empty()) std::memcpy(state.commands.data(), bytes.bytes().data(), bytes.size_bytes());
  state.known.insert(state.commands.begin(), state.commands.end());
  return state;
}

bool LogWorld::State::apply(std::uint64_t command) {
  if (!known.insert(command).second) return false;
  commands.push_back(command);
  return true;
}

LogWorld::LogWorld(const LogWorldOptions& options)
    : options_(options), random_(options.seed * 17 + 3), copies_wanted_(options.copies_wanted) {
  nodes_.resize(options_.nodes);
  clients_.resize(options_.clients);
  Configuration genesis;
  for (std::uint32_t i = 0; i < options_.nodes; ++i) {
    Node& node = nodes_[i];
    node.number = i;
    node.disk = SimDisk(next_disk_++);
    node.clock = 1 + options_.drift * (2 * random_.unit() - 1);
    if (i < options_.genesis_voters) genesis.voters.push_back(seat_of(node));
  }
  for (Node& node : nodes_) {
    // Some write the genesis themselves; the submitter waits until all have it.
    const bool voter = node.number < options_.genesis_voters, early = random_.chance(0.5);
    if (voter && early) node.disk.put(Snapshot{0, 0, genesis, {}});
    start(node);
    if (!voter || early) continue;
    node.replica->begin(genesis, {}, local(node));
    for (Effect& effect : node.replica->take_effects()) {
      if (auto* one = std::get_if<Write>(&effect)) node.disk.put(one->change);
    }
    node.replica->on_written(1, local(node));
    drain(node);
  }
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    time_.after(milliseconds(random_.below(500)), [this, i] { submit(i); });
  }
  time_.after(milliseconds(300), [this] { read(); });
  time_.after(milliseconds(200), [this] { reconfigure(); });
  plan_faults();
}

void LogWorld::note(const std::string& line) {
  for (const char c : line) trace_hash = (trace_hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  if (!options_.trace) return;
  std::printf("%9.4f %s\n", std::chrono::duration<double>(now().since_start).count(), line.c_str());
}

/// The time of the node's clock, which runs at its own pace.
Instant LogWorld::local(const Node& node) const {
  return Instant{
      Duration(static_cast<std::int64_t>(static_cast<double>(now().since_start.count()) * node.clock))};
}

/// Elections can only stop where an answer takes less than an election timeout.
Duration LogWorld::at_most(Duration time) const {
  return calm() ? std::min(time, options_.replica.election_timeout / 8) : time;
}

void LogWorld::run() {
  while (!done()) {
    if (time_.empty()) throw Violation("nothing will ever happen again");
    time_.run_one();
    if (++events > options_.events_max) throw Violation("more events than a seed may have");
    if (now() > options_.calm_at + seconds(60)) {
      throw Violation(std::to_string(acknowledged_.size()) +
                      " commands are acknowledged a minute after all was calm");
    }
  }
  look_how_long_it_took();
  look_who_is_drained();
}

bool LogWorld::done() const {
  return now() > options_.calm_at + seconds(20) &&
         acknowledged_.size() == std::size_t{options_.clients} * options_.commands;
}

// ---- Nodes

void LogWorld::start(Node& node) {
  std::optional<Stored> stored = node.disk.start();
  if (!stored) throw Violation("a log is damaged that nothing has damaged");
  ReplicaOptions options = options_.replica;
  options.self = seat_of(node);
  options.seed = random_.next();
  ++node.life;
  last_start_ = now();
  node.state = {};
  node.applied = 0;
  node.refuses.reset();
  node.missed.clear();
  node.heard.clear();
  node.replica = std::make_unique<Replica>(options, std::move(*stored), local(node));
  node.replica->on_leaving(node.leaving, local(node));
  note("n" + std::to_string(node.number) + " starts, disk " + std::to_string(node.disk.id()));
  drain(node);
}

/// The batch under way may be there in part.
void LogWorld::kill(Node& node, bool lose_disk) {
  if (!node.replica) return;
  note("n" + std::to_string(node.number) + (lose_disk ? " dies with its disk" : " dies"));
  node.replica.reset();
  ++node.life;
  node.paused_until = now();
  if (random_.chance(0.5)) node.unsent_until = now();
  node.disk.crash(random_);
  node.disk_full_until = now();
  if (lose_disk) node.disk = SimDisk(next_disk_++);
  const std::uint64_t away_ms = random_.chance(0.4) ? 5 : random_.chance(0.5) ? 300 : 4000;
  const Duration away = milliseconds(random_.below(away_ms));
  time_.after(away, [this, number = node.number] {
    if (!nodes_[number].replica) start(nodes_[number]);
  });
}

void LogWorld::schedule(Node& node) {
  const auto real = static_cast<double>(node.replica->due().since_start.count()) / node.clock;
  const Instant due{Duration(static_cast<std::int64_t>(real) + 1)};
  time_.at(due, [this, number = node.number, life = node.life] {
    Node& again = nodes_[number];
    if (again.life != life) return;
    const auto look = [this, number, life] {
      Node& late = nodes_[number];
      if (late.life != life || local(late) < late.replica->due()) return;
      late.replica->on_time(local(late));
      drain(late);
    };
    now() < again.paused_until ? again.missed.push_back(look) : look();
  });
}

void LogWorld::drain(Node& node) {
  const std::uint64_t life = node.life;
  for (Effect& effect : node.replica->take_effects()) {
    std::visit(
        Overloaded{[&](Send& one) {
                     told(node, one.message, one.to);
                     if (std::holds_alternative<TakeOver>(one.message)) {
                       handed_over_at_ = now();
                       if (node.leaving) ++seen["handed over by who leaves"];
                       if (now() < node.disk_full_until) ++seen["handed over for a full disk"];
                     }
                     if (const auto* vote = std::get_if<VoteAnswer>(&one.message); vote && vote->granted)
                       strike(node, options_.duels ? 0.1 : 2.5);
                     send(node, one.to, std::move(one.message));
                   },
                   [&](Write& one) { node.disk.append(one.number, one.change); },
                   [&](Apply& one) { apply(node, one.index, one.entry); },
                   [&](Install& one) { installed(node, one.snapshot); },
                   [&](Lead& one) { leads(node, one.term); },
                   [&](Follow& one) {
                     ++seen["a leader lets go"];
                     note("n" + std::to_string(node.number) + " follows, term " + std::to_string(one.term));
                   },
                   [&](Readable& one) {
                     const auto reading = readings_.find(one.number);
                     if (reading == readings_.end() || node.applied < one.index) return;
                     ++seen["read"];
                     for (const std::uint64_t command : reading->second.acknowledged) {
                       if (!node.state.known.contains(command))
                         throw Violation("a read of n" + std::to_string(node.number) +
                                         " does not see what was acknowledged before it");
                     }
                     readings_.erase(reading);
                   }},
        effect);
    if (node.life != life) return;
  }
  node.replica->check_invariants();
  if (options_.compact_every > 0 && node.replica->snapshot() &&
      node.applied >= node.replica->snapshot()->index + options_.compact_every) {
    node.replica->compact(node.applied, node.state.bytes());
    return drain(node);
  }
  look_for_two_majorities(node);
  write(node);
  schedule(node);
}

/// Counts refusals and rare messages: each has to be seen in some seed.
void LogWorld::count(const Message& message) {
  std::visit(Overloaded{[&](const VoteAnswer& one) {
                          if (!one.granted) ++seen[one.pre ? "a vote is not promised" : "a vote is refused"];
                        },
                        [&](const AppendAnswer& one) {
                          if (!one.matches) ++seen[one.empty ? "no log" : "the logs differ"];
                        },
                        [&](const SnapshotAnswer&) { ++seen["a piece of a snapshot"]; },
                        [&](const TakeOver&) { ++seen["handed over"]; },
                        [&](const Outdated&) { ++seen["an older term"]; }, [](const auto&) {}},
             message);
}

/// Writes one batch at a time, as the node's log does it.
void LogWorld::write(Node& node) {
  if (!node.disk.begin_batch()) return;
  Duration takes =
      Duration(random_.below(static_cast<std::uint64_t>(at_most(options_.write_max).count()) + 1));
  if (options_.slow_disks && !calm() && random_.chance(0.02)) takes = milliseconds(random_.below(1500));
  Instant when = now() + takes;
  if (when < node.disk_full_until) when = node.disk_full_until;
  time_.at(when, [this, number = node.number, life = node.life] {
    Node& again = nodes_[number];
    if (again.life != life) return;
    const std::uint64_t last = again.disk.end_batch();
    const auto written = [this, number, life, last] {
      Node& late = nodes_[number];
      if (late.life != life) return;
      late.replica->on_written(last, local(late));
      drain(late);
    };
    now() < again.paused_until ? again.missed.push_back(written) : written();
  });
}

void LogWorld::send(Node& from, ProcessId to, Message message) {
  count(message);
  if (to.value >= nodes_.size()) throw Violation("a message to nobody");
  const std::size_t copies = !calm() && random_.chance(options_.repeated) ? 2 : 1;
  for (std::size_t i = 0; i < copies; ++i) {
    if (!calm() && random_.chance(options_.lost)) continue;
    Duration takes = Duration(random_.below(static_cast<std::uint64_t>(at_most(options_.delay_max).count())));
    if (!calm() && random_.chance(options_.late)) takes = takes + milliseconds(random_.below(1500));
    time_.after(takes, [this, from = from.number, to = to.value, sent = now(), message] {
      if (reaches(from, to) && sent > nodes_[from].unsent_until) deliver(to, message);
    });
  }
}

bool LogWorld::reaches(std::uint32_t from, std::uint32_t to) const {
  return calm() || !cut_.contains({from, to});
}

void LogWorld::deliver(std::uint32_t to, Message message) {
  Node& node = nodes_[to];
  if (!node.replica) return;
  if (now() < node.paused_until) {
    node.missed.push_back([this, to, life = node.life, message = std::move(message)] {
      if (nodes_[to].life == life) deliver(to, message);
    });
    return;
  }
  node.heard[std::visit([](const auto& one) { return one.from.node.value; }, message)] = now();
  if (options_.trace) note(line_of(message) + " -> n" + std::to_string(to));
  node.replica->on_message(message, local(node));
  drain(node);
}

// ---- Clients

void LogWorld::submit(std::uint32_t number) {
  Client& client = clients_[number];
  if (!client.waits) {
    if (client.sent == options_.commands) return;
    ++client.sent;
    client.waits = true;
  }
  const std::uint64_t command = std::uint64_t{number} << 32 | client.sent;
  Node& node = nodes_[client.asks];
  const bool up = node.replica && now() >= node.paused_until;
  const bool taken = up && node.replica->propose(bytes_of(command), local(node));
  if (up) look_for_refusals(node, !taken);
  if (!taken) {
    const auto leader = up ? node.replica->leader() : std::nullopt;
    client.asks = leader && random_.chance(0.7) ? leader->value
                                                : static_cast<std::uint32_t>(random_.below(options_.nodes));
    time_.after(milliseconds(10 + random_.below(50)), [this, number, attempt = client.attempt] {
      if (clients_[number].attempt == attempt) submit(number);
    });
    return;
  }
  drain(node);
  // The client does not know whether that comes to anything, and says it again.
  time_.after(milliseconds(500 + random_.below(1000)), [this, number, attempt = client.attempt] {
    if (clients_[number].attempt != attempt) return;
    ++seen["a command said again"];
    clients_[number].asks = static_cast<std::uint32_t>(random_.below(options_.nodes));
    submit(number);
  });
}

void LogWorld::acknowledge(std::uint64_t command) {
  if (!acknowledged_.insert(command).second) return;
  acknowledged_at_ = now();
  const auto number = static_cast<std::uint32_t>(command >> 32);
  Client& client = clients_[number];
  if (client.sent != (command & 0xFFFF'FFFF)) return;
  client.waits = false;
  ++client.attempt;
  const Duration pause = calm() ? milliseconds(1) : milliseconds(random_.below(600));
  time_.after(pause, [this, number] { submit(number); });
}

void LogWorld::read() {
  time_.after(milliseconds(100 + random_.below(400)), [this] { read(); });
  for (Node& node : nodes_) {
    const bool leads = node.replica && node.replica->role() == Replica::Role::leader;
    if (leads || random_.chance(0.1)) read(node);
  }
}

void LogWorld::read(Node& node) {
  if (!node.replica || now() < node.paused_until) return;
  const std::uint64_t number = next_reading_++;
  readings_[number] = {node.number, node.life, acknowledged_};
  note("n" + std::to_string(node.number) + " is asked to read, " + std::to_string(number));
  if (!node.replica->read(number, local(node))) {
    readings_.erase(number);
    return;
  }
  drain(node);
}

/// Plays the cell's owner: each leader looks whether its copies are where they should be.
void LogWorld::reconfigure() {
  time_.after(milliseconds(200), [this] { reconfigure(); });
  look_who_has_copies();
  for (Node& node : nodes_) reconfigure(node);
}

void LogWorld::reconfigure(Node& node) {
  if (!node.replica || now() < node.paused_until || node.replica->role() != Replica::Role::leader) return;
  look_for_majority(node);
  std::vector<Candidate> alive;
  std::vector<Seat> leaving;
  for (const Node& one : nodes_) {
    if (!one.replica) continue;
    one.leaving ? leaving.push_back(seat_of(one)) : alive.push_back({seat_of(one)});
  }
  const bool any = options_.any_changes && !calm();
  const auto to =
      any ? any_change(node)
          : next_change(*node.replica, ranked(options_.seed, alive), leaving, copies_wanted_, local(node));
  if (!to) return;
  if (!node.replica->change(*to, local(node))) {
    ++seen["a change is refused"];
    return;
  }
  ++seen["configuration changed"];
  changes_.emplace(node.replica->last_index(), *to);
  std::string seats;
  for (const Seat& voter : to->voters) seats += " " + line_of(voter);
  for (const Seat& learner : to->learners) seats += " (" + line_of(learner) + ")";
  note("n" + std::to_string(node.number) + " changes to" + seats);
  if (any && random_.chance(0.3)) {
    isolate(node, milliseconds(random_.below(3000)));
  } else {
    strike(node);
  }
  drain(node);
}

/// Gives a seat a vote or takes it, if the living seats are a majority then.
std::optional<Configuration> LogWorld::any_change(const Node& leader) {
  Configuration to = leader.replica->configuration();
  const Node& other = nodes_[random_.below(nodes_.size())];
  if (!other.replica) return std::nullopt;
  const Seat seat = seat_of(other);
  if (to.votes(seat)) {
    std::erase(to.voters, seat);
  } else {
    std::erase(to.learners, seat);
    to.voters.insert(std::lower_bound(to.voters.begin(), to.voters.end(), seat), seat);
  }
  std::size_t there = 0;
  for (const Seat& voter : to.voters) {
    const Node& holder = nodes_[voter.node.value];
    there += holder.replica && seat_of(holder) == voter ? 1 : 0;
  }
  return there >= to.quorum() ? std::optional(to) : std::nullopt;
}

}  // namespace dag::sim
