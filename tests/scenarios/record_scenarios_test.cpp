// Scenarios of a job's record: three copies of its log on three nodes, and who leads them. The machines are
// the real ones (libdag/consensus); disks take no time here, and messages a millisecond.

#include <deque>
#include <memory>
#include <set>

#include "libdag/consensus/replica.hpp"
#include "tests/scenarios/transcript.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace std::chrono_literals;

namespace {

Seat seat(std::uint32_t node) { return {ProcessId{node}, node + 1}; }
std::string node(std::uint32_t number) { return to_string(ProcessId{number}); }
Blob text(const std::string& letters) { return Blob(std::as_bytes(std::span(letters))); }
std::string letters_of(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes().data()), blob.size_bytes()};
}

class Copies {
 public:
  explicit Copies(const std::string& about) : transcript(about) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      ReplicaOptions options;
      options.self = seat(i);
      options.seed = i + 1;
      copies_.push_back(std::make_unique<Replica>(options, Stored{}, now_));
    }
    transcript.step("n0 begins the record, with copies on n0, n1 and n2");
    for (const auto& copy : copies_) copy->begin({{seat(0), seat(1), seat(2)}, {}}, text("plan"), now_);
    copies_[0]->stand(now_);
    pass(50ms);
  }
  void step(const std::string& what) { transcript.step(what); }
  void propose(std::uint32_t at, const std::string& command) {
    const bool taken = copies_[at]->propose(text(command), now_).has_value();
    transcript.line(now_, node(at) + (taken ? " takes '" : " refuses '") + command + "'");
  }
  void die(std::uint32_t number) {
    copies_[number].reset();
    for (const auto& copy : copies_) {
      if (copy) copy->on_process_down(ProcessId{number}, now_);
    }
  }
  /// No message passes between that node and the others, until heal().
  void cut_off(std::uint32_t number) { cut_off_ = number; }
  void heal() { cut_off_.reset(); }
  void pass(Duration time) {
    for (const Instant end = now_ + time; now_ < end; now_ = now_ + 1ms) {
      for (Letter& letter : std::exchange(letters_, {})) deliver(letter);
      for (std::uint32_t i = 0; i < copies_.size(); ++i) {
        if (!copies_[i]) continue;
        if (copies_[i]->due() <= now_) copies_[i]->on_time(now_);
        carry_out(i);
      }
    }
  }
  std::optional<std::uint32_t> leader() const {
    std::optional<std::uint32_t> found;
    for (std::uint32_t i = 0; i < copies_.size(); ++i) {
      const Replica* copy = copies_[i].get();
      if (copy == nullptr || copy->role() != Replica::Role::leader) continue;
      if (!found || copy->term() > copies_[*found]->term()) found = i;
    }
    return found;
  }

  test::Transcript transcript;

 private:
  struct Letter {
    std::uint32_t from = 0, to = 0;
    Message message;
  };

  bool passes(const Letter& letter) const {
    return copies_[letter.to] && (!cut_off_ || (letter.from != *cut_off_ && letter.to != *cut_off_));
  }
  void deliver(const Letter& letter) {
    if (!passes(letter)) return;
    copies_[letter.to]->on_message(letter.message, now_);
    carry_out(letter.to);
  }
  void carry_out(std::uint32_t at) {
    for (bool again = true; again;) {
      again = false;
      for (Effect& any : copies_[at]->take_effects()) {
        again = true;
        if (auto* sent = std::get_if<Send>(&any)) {
          tell(at, sent->to.value, sent->message);
          letters_.push_back({at, sent->to.value, std::move(sent->message)});
        } else if (const auto* write = std::get_if<Write>(&any)) {
          copies_[at]->on_written(write->number, now_);
        } else if (const auto* apply = std::get_if<Apply>(&any)) {
          if (apply->entry.type == EntryType::command)
            transcript.line(now_, node(at) + " applies '" + letters_of(apply->entry.command) + "', index " +
                                      std::to_string(apply->index));
        } else if (const auto* lead = std::get_if<Lead>(&any)) {
          transcript.line(now_, node(at) + " leads term " + std::to_string(lead->term));
        } else if (const auto* follow = std::get_if<Follow>(&any)) {
          transcript.line(now_, node(at) + " leads no more: term " + std::to_string(follow->term));
        }
      }
    }
  }
  /// Votes only: entries and heartbeats are many.
  void tell(std::uint32_t from, std::uint32_t to, const Message& message) {
    const std::string way = node(from) + " -> " + node(to) + "  ";
    if (const auto* ask = std::get_if<AskVote>(&message)) {
      transcript.line(now_, way + (ask->pre ? "would you vote for me in term " : "vote for me in term ") +
                                std::to_string(ask->term) + lost(from, to));
    } else if (const auto* answer = std::get_if<VoteAnswer>(&message)) {
      transcript.line(now_, way + (answer->granted ? "yes" : "no") + ", term " +
                                std::to_string(answer->term) + lost(from, to));
    }
  }
  std::string lost(std::uint32_t from, std::uint32_t to) const {
    return passes({from, to, TakeOver{}}) ? "" : " (lost)";
  }

  Instant now_{1s};
  std::vector<std::unique_ptr<Replica>> copies_;  ///< null: dead
  std::deque<Letter> letters_;
  std::optional<std::uint32_t> cut_off_;
};

}  // namespace

TEST_CASE("scenario: the leader of a record dies") {
  Copies copies(
      "The leader of a record dies.\n"
      "Three nodes have copies. The leader takes a command, and it is settled when a majority has it on "
      "disk.\n"
      "Then the leader dies: another copy asks whether it would be voted for (which changes nothing yet), "
      "is\n"
      "elected in the next term, and has all that was settled.");
  copies.propose(0, "a finished");
  copies.pass(50ms);
  copies.step("n0 dies");
  copies.die(0);
  copies.pass(2s);
  REQUIRE(copies.leader());
  copies.step("the new leader takes the next command");
  copies.propose(*copies.leader(), "b finished");
  copies.pass(50ms);
  copies.transcript.check("leader_change");
}

TEST_CASE("scenario: a leader is cut off from the others") {
  Copies copies(
      "A leader is cut off from the others (a partition).\n"
      "n0 goes on leading term 1 and takes a command, but settles nothing, since no majority hears it: that\n"
      "command is never acknowledged. The others elect a leader of the next term. When the network heals, "
      "n0\n"
      "hears of that term, follows, and drops what it had not settled.");
  copies.step("n0 is cut off, and takes a command");
  copies.cut_off(0);
  copies.propose(0, "lost: a finished");
  copies.pass(2s);
  const auto leader = copies.leader();
  REQUIRE(leader);
  CHECK(*leader != 0);
  copies.step("the majority goes on");
  copies.propose(*leader, "b finished");
  copies.pass(50ms);
  copies.step("the network heals");
  copies.heal();
  copies.pass(500ms);
  copies.transcript.check("partition");
}
