#include "tools/sim/log_world.hpp"

#include <cstring>

#include "libdag/base/overloaded.hpp"

namespace dag::sim {

using namespace consensus;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Blob bytes_of(std::uint64_t command) { return Blob(std::as_bytes(std::span(&command, 1))); }
std::uint64_t command_of(const Blob& bytes) {
  std::uint64_t command = 0;
  std::memcpy(&command, bytes.bytes().data(), sizeof command);
  return command;
}

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
    node.disk.id = next_disk_++;
    node.clock = 1 + options_.drift * (2 * random_.unit() - 1);
    if (i < options_.genesis_voters) genesis.voters.push_back(seat_of(node));
  }
  for (Node& node : nodes_) {
    // Some write it themselves; that all have is what who submits waits for.
    const bool voter = node.number < options_.genesis_voters, early = random_.chance(0.5);
    if (voter && early) node.disk.stored.put(Snapshot{0, 0, genesis, {}});
    start(node);
    if (!voter || early) continue;
    node.replica->begin(genesis, {}, local(node));
    for (Effect& effect : node.replica->take_effects()) {
      if (auto* one = std::get_if<Write>(&effect)) node.disk.stored.put(one->change);
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

/// What the node's clock says: it runs at its own pace.
Instant LogWorld::local(const Node& node) const {
  return Instant{
      Duration(static_cast<std::int64_t>(static_cast<double>(now().since_start.count()) * node.clock))};
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
  if (last_election_ > options_.calm_at + seconds(15)) {
    throw Violation("somebody was elected long after all was calm");
  }
}

bool LogWorld::done() const {
  return now() > options_.calm_at + seconds(20) &&
         acknowledged_.size() == std::size_t{options_.clients} * options_.commands;
}

// ---- Nodes
// ---------------------------------------------------------------------------------------------------

void LogWorld::start(Node& node) {
  ReplicaOptions options = options_.replica;
  options.self = seat_of(node);
  options.seed = random_.next();
  ++node.life;
  node.state = {};
  node.applied = 0;
  node.missed.clear();
  node.heard.clear();
  node.writing = false;
  node.replica = std::make_unique<Replica>(options, node.disk.stored, local(node));
  note("n" + std::to_string(node.number) + " starts, disk " + std::to_string(node.disk.id));
  drain(node);
}

/// Of what was being written, a part may be there.
void LogWorld::kill(Node& node, bool lose_disk) {
  if (!node.replica) return;
  note("n" + std::to_string(node.number) + (lose_disk ? " dies with its disk" : " dies"));
  node.replica.reset();
  ++node.life;
  node.paused_until = now();
  if (random_.chance(0.5)) node.unsent_until = now();
  const std::size_t reached = random_.below(node.disk.waiting.size() + 1);
  for (std::size_t i = 0; i < reached; ++i) node.disk.stored.put(node.disk.waiting[i].second);
  node.disk.waiting.clear();
  if (lose_disk) node.disk = Disk{next_disk_++, {}, {}, {}};
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
                     if (const auto* vote = std::get_if<VoteAnswer>(&one.message); vote && vote->granted)
                       strike(node, 2.5);
                     send(node, one.to, std::move(one.message));
                   },
                   [&](Write& one) { node.disk.waiting.emplace_back(one.number, std::move(one.change)); },
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
  if (options_.compact_every > 0 && node.replica->snapshot() &&
      node.applied >= node.replica->snapshot()->index + options_.compact_every) {
    node.replica->compact(node.applied, node.state.bytes());
    return drain(node);
  }
  write(node);
  schedule(node);
}

/// What says no, and what is rare: each has to be seen in some seed.
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

/// One batch at a time, as the node's log does it.
void LogWorld::write(Node& node) {
  if (node.writing || node.disk.waiting.empty()) return;
  node.writing = true;
  Duration takes = Duration(random_.below(static_cast<std::uint64_t>(options_.write_max.count()) + 1));
  if (options_.slow_disks && !calm() && random_.chance(0.02)) takes = milliseconds(random_.below(1500));
  Instant when = now() + takes;
  if (when < node.disk.full_until) when = node.disk.full_until;
  const std::uint64_t last = node.disk.waiting.back().first;
  time_.at(when, [this, number = node.number, life = node.life, last] {
    Node& again = nodes_[number];
    if (again.life != life) return;
    while (!again.disk.waiting.empty() && again.disk.waiting.front().first <= last) {
      again.disk.stored.put(again.disk.waiting.front().second);
      again.disk.waiting.pop_front();
    }
    again.writing = false;
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
    Duration takes = Duration(random_.below(static_cast<std::uint64_t>(options_.delay_max.count())));
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

// ---- What must stay true
// -------------------------------------------------------------------------------------

/// I3: what is settled at an index is the same everywhere, for ever.
void LogWorld::apply(Node& node, Index index, const Entry& entry) {
  if (index != node.applied + 1) throw Violation("entries are applied out of order");
  node.applied = index;
  const std::uint64_t command = entry.type == EntryType::command ? command_of(entry.command) : 0;
  if (index > settled_.size()) {
    settled_.push_back({entry.term, entry.type, command, reference_.commands.size(), node.replica->term()});
    if (entry.type == EntryType::command) reference_.apply(command);
    strike(node);
    note("settled " + std::to_string(index) + " of term " + std::to_string(entry.term) + " at n" +
         std::to_string(node.number));
  }
  const SettledEntry& settled = settled_[index - 1];
  if (settled.term != entry.term || settled.type != entry.type || settled.command != command) {
    throw Violation("n" + std::to_string(node.number) + " settles another entry at index " +
                    std::to_string(index));
  }
  if (entry.type != EntryType::command) return;
  node.state.apply(command);
  if (node.replica->role() == Replica::Role::leader) acknowledge(command);
}

void LogWorld::installed(Node& node, const Snapshot& snapshot) {
  if (snapshot.index < node.applied) throw Violation("a snapshot undoes what was applied");
  node.state = State::of(snapshot.state);
  node.applied = snapshot.index;
  if (snapshot.index > 0) ++seen["snapshot installed"];
  if (snapshot.index > settled_.size()) throw Violation("a snapshot of what is not settled");
  const std::size_t commands = snapshot.index < settled_.size() ? settled_[snapshot.index].commands_before
                                                                : reference_.commands.size();
  if (node.state.commands.size() != commands ||
      !std::equal(node.state.commands.begin(), node.state.commands.end(), reference_.commands.begin())) {
    throw Violation("a snapshot has another state than its index");
  }
}

/// I4, and I7: who leads has all that was ever settled.
void LogWorld::leads(Node& node, Term term) {
  note("n" + std::to_string(node.number) + " leads term " + std::to_string(term));
  ++seen["led"];
  last_election_ = now();
  node.had_majority = now();
  const auto [at, first] = leaders_.emplace(term, node.number);
  if (!first) throw Violation("two leaders of term " + std::to_string(term));
  if (!calm() && random_.chance(options_.struck)) {
    const char* const kinds[] = {"crash", "crash", "partition", "cut", "pause", "transfer", "disk lost"};
    const std::string kind = kinds[random_.below(std::size(kinds))];
    const Duration soon = milliseconds(random_.below(random_.chance(0.5) ? 20 : 300));
    time_.after(soon, [this, kind, number = node.number] {
      if (!calm()) fault(kind, nodes_[number]);
    });
  }
  if (options_.any_changes || random_.chance(0.5)) {
    const Duration soon = milliseconds(random_.below(options_.any_changes ? 4 : 20));
    time_.after(soon, [this, number = node.number] { reconfigure(nodes_[number]); });
  }
  const Replica& replica = *node.replica;
  for (Index index = settled_.size(); index > replica.snapshot()->index; --index) {
    if (settled_[index - 1].settled_in >= term) continue;  // Its votes were long under way.
    if (index > replica.last_index() || replica.entry(index).term != settled_[index - 1].term) {
      throw Violation("the leader of term " + std::to_string(term) + " lacks the settled entry " +
                      std::to_string(index));
    }
  }
}

/// I10: promises are on the disk before they are given.
void LogWorld::told(const Node& node, const Message& message, ProcessId to) const {
  const Stored& stored = node.disk.stored;
  if (const auto* vote = std::get_if<VoteAnswer>(&message); vote != nullptr && vote->granted && !vote->pre) {
    const bool there =
        stored.vote.term > vote->term || (stored.vote.term == vote->term && stored.vote.candidate == to);
    if (!there) throw Violation("a vote left before it was on the disk");
  }
  if (const auto* answer = std::get_if<AppendAnswer>(&message); answer != nullptr && answer->matches) {
    const Index last = stored.snapshot ? stored.snapshot->index + stored.entries.size() : 0;
    if (last < answer->index && stored.vote.term <= answer->term) {
      throw Violation("entries were acknowledged before they were on the disk");
    }
  }
}

// ---- Clients
// -------------------------------------------------------------------------------------------------

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
  if (!up || !node.replica->propose(bytes_of(command), local(node))) {
    const auto leader = up ? node.replica->leader() : std::nullopt;
    client.asks = leader && random_.chance(0.7) ? leader->value
                                                : static_cast<std::uint32_t>(random_.below(options_.nodes));
    time_.after(milliseconds(10 + random_.below(50)), [this, number, attempt = client.attempt] {
      if (clients_[number].attempt == attempt) submit(number);
    });
    return;
  }
  drain(node);
  // It does not know whether that comes to anything, and says it again.
  time_.after(milliseconds(500 + random_.below(1000)), [this, number, attempt = client.attempt] {
    if (clients_[number].attempt != attempt) return;
    ++seen["a command said again"];
    clients_[number].asks = static_cast<std::uint32_t>(random_.below(options_.nodes));
    submit(number);
  });
}

void LogWorld::acknowledge(std::uint64_t command) {
  if (!acknowledged_.insert(command).second) return;
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

/// What the cell's owner does: whoever leads looks whether its copies are where they should be.
void LogWorld::reconfigure() {
  time_.after(milliseconds(200), [this] { reconfigure(); });
  for (Node& node : nodes_) reconfigure(node);
}

void LogWorld::reconfigure(Node& node) {
  if (!node.replica || now() < node.paused_until || node.replica->role() != Replica::Role::leader) return;
  look_for_majority(node);
  std::vector<Candidate> alive;
  for (const Node& one : nodes_) {
    if (one.replica) alive.push_back({seat_of(one)});
  }
  const bool any = options_.any_changes && !calm();
  const auto to = any ? any_change(node)
                      : next_change(*node.replica, ranked(options_.seed, alive), copies_wanted_, local(node));
  if (!to) return;
  if (!node.replica->change(*to, local(node))) {
    ++seen["a change is refused"];
    return;
  }
  ++seen["configuration changed"];
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

/// One seat gets a vote or loses it, if those who are there are a majority then.
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

/// P6: who leads nobody says so.
void LogWorld::look_for_majority(Node& node) {
  const Duration long_ago = 4 * options_.replica.election_timeout;
  const Configuration& all = node.replica->configuration();
  std::size_t heard = 0;
  for (const Seat& voter : all.voters) {
    const auto found = node.heard.find(voter.node.value);
    if (voter.node.value == node.number || (found != node.heard.end() && now() - found->second < long_ago))
      ++heard;
  }
  if (heard < all.quorum()) ++seen["a leader alone"];
  if (heard >= all.quorum()) node.had_majority = now();
  if (now() - node.had_majority > long_ago) {
    throw Violation("a leader that hears no majority goes on as one");
  }
}

// ---- Faults
// --------------------------------------------------------------------------------------------------

void LogWorld::plan_faults() {
  const auto plan = [&](const std::string& kind, std::uint32_t count) {
    const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
    for (std::uint32_t i = 0; i < count; ++i) {
      time_.at(Instant{Duration(random_.below(span))}, [this, kind] {
        if (!calm()) fault(kind);
      });
    }
  };
  plan("crash", options_.crashes);
  plan("disk lost", options_.disks_lost);
  plan("cut", options_.cuts);
  plan("partition", options_.partitions);
  plan("pause", options_.pauses);
  plan("disk full", options_.disks_full);
  plan("transfer", options_.transfers);
  if (options_.grows) plan("copies", 10);
}

LogWorld::Node& LogWorld::victim() {
  if (random_.chance(options_.aim)) {
    for (Node& node : nodes_) {
      if (node.replica && node.replica->role() == Replica::Role::leader) return node;
    }
  }
  return nodes_[random_.below(nodes_.size())];
}

/// Nobody hears it, and it hears nobody.
void LogWorld::isolate(Node& node, Duration how_long) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;
  for (const Node& other : nodes_) {
    if (other.number == node.number) continue;
    ways.emplace_back(node.number, other.number);
    ways.emplace_back(other.number, node.number);
  }
  cut_.insert(ways.begin(), ways.end());
  ++seen["isolated"];
  note("n" + std::to_string(node.number) + " is isolated");
  time_.after(how_long, [this, ways] {
    for (const auto& way : ways) cut_.erase(way);
  });
}

/// No more than a minority of the copies may go for good, in any configuration that somebody may yet follow:
/// what is beyond that is not promised.
bool LogWorld::may_lose_disk(const Node& node) const {
  const auto survives = [&](const Configuration& all) {
    std::size_t lost = 0;
    for (const Seat& voter : all.voters) {
      lost += voter == seat_of(node) || seat_of(nodes_[voter.node.value]) != voter ? 1 : 0;
    }
    return lost * 2 < std::max<std::size_t>(all.voters.size(), 1);
  };
  for (const Node& one : nodes_) {
    if (one.replica && !survives(one.replica->configuration())) return false;
    if (!one.disk.stored.snapshot) continue;
    const Configuration* stored = &one.disk.stored.snapshot->configuration;
    for (const Entry& entry : one.disk.stored.entries) {
      if (entry.type == EntryType::configuration) stored = &entry.configuration;
    }
    if (!survives(*stored)) return false;
  }
  return true;
}

void LogWorld::fault(const std::string& kind) { fault(kind, victim()); }

/// It dies when it has just promised something, behind what it says in that moment.
void LogWorld::strike(Node& node, double more_often) {
  if (calm() || !random_.chance(more_often * options_.struck_at_promises)) return;
  ++seen["struck"];
  time_.after(Duration(random_.below(2'000'000)), [this, number = node.number, life = node.life] {
    if (nodes_[number].life == life) kill(nodes_[number], false);
  });
}

void LogWorld::fault(const std::string& kind, Node& node) {
  ++seen[kind];
  const Duration some = milliseconds(50 + random_.below(3000));
  if (kind == "crash") {
    if (random_.chance(0.1)) {
      for (Node& one : nodes_) kill(one, false);
    } else {
      kill(node, false);
    }
  } else if (kind == "disk lost") {
    if (may_lose_disk(node)) {
      ++seen["a disk came back empty"];
      kill(node, true);
    }
  } else if (kind == "cut") {
    const auto other = static_cast<std::uint32_t>(random_.below(nodes_.size()));
    const auto way = random_.chance(0.5) ? std::pair(node.number, other) : std::pair(other, node.number);
    cut_.insert(way);
    note("cut n" + std::to_string(way.first) + " to n" + std::to_string(way.second));
    time_.after(some, [this, way] { cut_.erase(way); });
  } else if (kind == "partition") {
    std::vector<bool> side(nodes_.size());
    for (std::size_t i = 0; i < side.size(); ++i) side[i] = random_.chance(0.5);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;
    for (std::uint32_t a = 0; a < side.size(); ++a) {
      for (std::uint32_t b = 0; b < side.size(); ++b) {
        if (side[a] != side[b]) ways.emplace_back(a, b);
      }
    }
    cut_.insert(ways.begin(), ways.end());
    note("partition");
    time_.after(some, [this, ways] {
      for (const auto& way : ways) cut_.erase(way);
    });
  } else if (kind == "pause") {
    if (!node.replica || now() < node.paused_until) return;
    node.paused_until = now() + some;
    note("n" + std::to_string(node.number) + " pauses");
    time_.at(node.paused_until, [this, number = node.number, life = node.life] {
      Node& again = nodes_[number];
      if (again.life != life) return;
      again.had_majority = now();
      read(again);
      if (again.life != life) return;
      for (const auto& one : std::exchange(again.missed, {})) one();
    });
  } else if (kind == "disk full") {
    node.disk.full_until = now() + some;
  } else if (kind == "transfer") {
    for (Node& one : nodes_) {
      if (!one.replica || one.replica->role() != Replica::Role::leader || now() < one.paused_until) continue;
      one.replica->transfer(ProcessId{static_cast<std::uint32_t>(random_.below(nodes_.size()))}, local(one));
      drain(one);
    }
  } else {
    copies_wanted_ = 1 + random_.below(options_.nodes);
  }
}

// ---- One seed
// ------------------------------------------------------------------------------------------------

LogWorldOptions log_world(std::uint64_t seed) {
  Random random(seed * 23 + 1);
  LogWorldOptions world;
  world.seed = seed;
  world.nodes = 3 + static_cast<std::uint32_t>(random.below(4));
  world.genesis_voters = 1 + static_cast<std::uint32_t>(random.below(std::min(world.nodes, 5u)));
  world.copies_wanted =
      random.chance(0.7) ? std::min<std::size_t>(3, world.nodes) : 1 + random.below(world.nodes);
  world.clients = 1 + static_cast<std::uint32_t>(random.below(4));
  world.commands = 5 + static_cast<std::uint32_t>(random.below(20));
  const auto sometimes = [&](std::uint64_t most) {
    return random.chance(0.5) ? static_cast<std::uint32_t>(1 + random.below(most)) : 0;
  };
  world.lost = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.late = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.repeated = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.delay_max = random.chance(0.5) ? milliseconds(5) : milliseconds(100);
  world.crashes = sometimes(12);
  world.disks_lost = sometimes(3);
  world.cuts = sometimes(10);
  world.partitions = sometimes(6);
  world.pauses = sometimes(6);
  world.disks_full = sometimes(4);
  world.transfers = sometimes(6);
  world.grows = random.chance(0.3);
  world.any_changes = random.chance(0.3);
  world.aim = random.chance(0.5) ? 0.6 : 0;
  world.struck = random.chance(0.6) ? 0.5 + 0.5 * random.unit() : 0;
  world.struck_at_promises = random.chance(0.5) ? 0.3 * random.unit() : 0;
  world.drift = random.chance(0.3) ? 0.01 : 0;
  world.slow_disks = random.chance(0.3);
  world.write_max = random.chance(0.5) ? milliseconds(3) : milliseconds(60);
  if (random.chance(0.6)) world.compact_every = 1 + random.below(8);
  ReplicaOptions& replica = world.replica;
  replica.election_timeout = milliseconds(150 + random.below(400));
  replica.heartbeat = replica.election_timeout / 5;
  if (random.chance(0.6)) replica.entries_per_append_max = 1 + random.below(2);
  if (random.chance(0.5)) replica.snapshot_piece_bytes = 8 + random.below(64);
  replica.entries_kept = random.chance(0.5) ? random.below(4) : 1024;
  world.calm_at = Instant{seconds(4 + random.below(12))};
  return world;
}

ChaosResult log_chaos(std::uint64_t seed, Planted planted, bool trace) {
  ChaosResult result;
  result.seed = seed;
  LogWorldOptions options = log_world(seed);
  options.replica.planted = planted;
  options.trace = trace;
  LogWorld world(options);
  try {
    world.run();
  } catch (const std::exception& error) {
    result.violation = error.what();
  }
  result.events = world.events;
  result.trace_hash = world.trace_hash;
  result.seen = world.seen;
  return result;
}

}  // namespace dag::sim
