// Conditions that copies of a log must meet after every event.

#include <cstring>

#include "tools/sim/log_world.hpp"
#include "tools/sim/promises.hpp"

namespace dag::sim {

using namespace consensus;
using std::chrono::milliseconds;

namespace {

std::uint64_t command_of(const Blob& bytes) {
  std::uint64_t command = 0;
  std::memcpy(&command, bytes.bytes().data(), sizeof command);
  return command;
}

}  // namespace

/// I3: the settled entry at an index is the same everywhere, for ever.
void LogWorld::apply(Node& node, Index index, const Entry& entry) {
  if (index != node.applied + 1) throw Violation("entries are applied out of order");
  node.applied = index;
  const std::uint64_t command = entry.type == EntryType::command ? command_of(entry.command) : 0;
  if (index > settled_.size()) {
    settled_.push_back({entry.term, entry.type, command, reference_.commands.size(), node.replica->term()});
    if (entry.type == EntryType::command) reference_.apply(command);
    if (entry.type == EntryType::configuration) changes_.erase(changes_.begin(), changes_.upper_bound(index));
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

/// I4, and I7: a leader has all entries that were ever settled.
void LogWorld::leads(Node& node, Term term) {
  note("n" + std::to_string(node.number) + " leads term " + std::to_string(term));
  ++seen["led"];
  // A leader that leaves, or is sick, hands over whenever that is. It may take a second try.
  const bool planned = handed_over_at_ > Instant{} && now() < handed_over_at_ + std::chrono::seconds(2);
  if (!planned) last_election_ = now();
  node.had_majority = now();
  const auto [at, first] = leaders_.emplace(term, node.number);
  if (!first) throw Violation("two leaders of term " + std::to_string(term));
  if (!calm() && random_.chance(options_.struck)) {
    const char* const kinds[] = {"crash", "crash", "partition", "cut", "pause", "transfer", "disk lost"};
    const bool at_once = options_.duels && random_.chance(0.7);
    const std::string kind = at_once ? "crash" : kinds[random_.below(std::size(kinds))];
    const std::uint64_t within_ms = at_once ? 6 : random_.chance(0.5) ? 20 : 300;
    const Duration soon = milliseconds(random_.below(within_ms));
    time_.after(soon, [this, kind, number = node.number] {
      if (!calm()) fault(kind, nodes_[number]);
    });
  }
  if (options_.any_changes || random_.chance(0.5)) {
    const Duration soon = milliseconds(random_.below(options_.any_changes ? 4 : 20));
    time_.after(soon, [this, number = node.number] { reconfigure(nodes_[number]); });
  }
  time_.after(milliseconds(random_.below(30)), [this, number = node.number] { read(nodes_[number]); });
  const Replica& replica = *node.replica;
  for (Index index = settled_.size(); index > replica.snapshot()->index; --index) {
    if (settled_[index - 1].settled_in >= term) continue;  // Its votes were long under way.
    if (index > replica.last_index() || replica.entry(index).term != settled_[index - 1].term) {
      throw Violation("the leader of term " + std::to_string(term) + " lacks the settled entry " +
                      std::to_string(index));
    }
  }
}

/// I10. And a replica that is told to take over has all that the leader has.
void LogWorld::told(const Node& node, const Message& message, ProcessId to) const {
  check_promise(node.disk.stored(), message, to);
  if (std::holds_alternative<TakeOver>(message)) {
    const Replica& leader = *node.replica;
    const std::vector<Seat>& voters = leader.configuration().voters;
    const bool has_all = std::any_of(voters.begin(), voters.end(), [&](const Seat& voter) {
      return voter.node == to && leader.match(voter) == leader.last_index();
    });
    if (!has_all) throw Violation("who lacks something is told to take over");
  }
}

/// P6: a leader that hears no majority stops leading.
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

/// A leader waits for one successor after the other, and then takes commands again.
void LogWorld::look_for_refusals(Node& node, bool refused) {
  const Replica& replica = *node.replica;
  if (!refused || replica.role() != Replica::Role::leader) {
    node.refuses.reset();
    return;
  }
  if (!node.refuses || node.refuses->second != replica.term()) node.refuses = {now(), replica.term()};
  const Duration long_ago = (options_.nodes + options_.transfers + 2) * 2 * options_.replica.election_timeout;
  if (now() - node.refuses->first > long_ago) throw Violation("a leader takes no commands any more");
}

/// Nothing is left where it need not be.
void LogWorld::look_who_is_drained() const {
  const auto stays = [&](const Seat& seat) { return !nodes_[seat.node.value].leaving; };
  std::size_t seats = 0;
  for (const Node& node : nodes_) seats += node.leaving ? 0 : 1;
  for (const Node& node : nodes_) {
    if (node.replica->role() != Replica::Role::leader) continue;
    const std::vector<Seat>& voters = node.replica->configuration().voters;
    if (seats > 0 && node.leaving) throw Violation("a node that is to go leads to the end");
    if (seats >= copies_wanted_ && !std::all_of(voters.begin(), voters.end(), stays))
      throw Violation("a node that is to go has a copy to the end");
  }
}

}  // namespace dag::sim
