#pragma once
// Detects which processes are alive: SWIM (Das, Gupta, Motivala, 2002) with Lifeguard's self-doubt, for one
// process. Decides which process to ping, suspect, bury and believe. Others carry messages (net), see links
// break (net), and act on deaths. Its word is a hint, never an authority: only incarnations, epochs and terms
// decide.
//
// Each process pings the next `watched_max` ones in the ring of ids, each heartbeat, and every message
// carries claims. Three ways lead to a death:
//  - silence: nothing new of a watched process for `suspect_after`, neither from it nor, by gossip, of it.
//  Then it is
//    suspected, helpers are asked, and unless a newer beat of it is heard of within `dead_after` it is dead;
//  - a broken link (`on_disconnected`): it has `reconnect_within` to answer a new ping. Only an answer to
//  that ping
//    counts, because its last words may still lie in our receive queue. A refused connection ends the wait;
//  - the word of another process that has found it dead.
// A life that was found dead stays dead, whatever it says: it is told so (ComeBackAs) and returns as the next
// life.
//
// Why this does not accuse wrongly: a suspicion names the beat it is based on, and any later beat refutes it;
// time that we slept does not count as silence of others; after a long sleep no process is accused before
// some process has answered; and a process that notices its own lateness stretches all its patience up to
// eight times. Why it ends: a dead process has no later beats, claims only grow in a finite order, and each
// wait has a limit.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/membership/effects.hpp"
#include "libdag/membership/local_health.hpp"
#include "libdag/membership/member_table.hpp"
#include "libdag/membership/messages.hpp"
#include "libdag/membership/options.hpp"

namespace dag {

class MembershipMachine {
 public:
  /// The first `on_tick` is due at `now`. `random` picks helpers; it is this machine's own stream.
  MembershipMachine(Life self, Endpoint endpoint, MembershipOptions options, Random random, Instant now);

  /// To be called at `wake_at()`, which is never more than a heartbeat away. An early call does no harm; a
  /// late one is noticed.
  MembershipEffects on_tick(Instant now);
  /// `from` is the envelope's sender. A message that does not begin with the sender's own claim is ignored.
  MembershipEffects on_message(Life from, const MembershipMessage& message, Instant now);
  /// Our link to this life broke (ZMQ_EVENT_DISCONNECTED). The transport should be trying to connect again,
  /// at once.
  MembershipEffects on_disconnected(Life life, Instant now);
  /// Its host refused a new connection: no process listens there any more.
  MembershipEffects on_refused(Life life, Instant now);
  /// Told with the next heartbeat; the first load, with the first message.
  void on_load(LoadSummary load);
  /// From now on these addresses are asked for other members, in place of MembershipOptions::seeds.
  void on_seeds(const std::vector<std::string>& addresses);
  /// Says goodbye; the machine does nothing more.
  MembershipEffects leave(Instant now);

  Instant wake_at() const;
  const Claim& self() const { return self_; }
  /// All known processes but ourselves, the dead included.
  const std::map<ProcessId, Member>& members() const { return table_.all(); }
  std::size_t up_count() const { return table_.up_count(); }
  bool is_fresh() const { return !stale_; }
  /// The machine's own life has ended: it left, or must come back as another.
  bool is_over() const { return over_; }
  std::int64_t patience_multiplier() const { return health_.multiplier(); }

 private:
  struct Seed {
    std::string address;
    std::optional<ProcessId> answered = std::nullopt;
    Instant ask_at = {};
  };
  /// A ping that we sent on behalf of another process.
  struct Relay {
    std::uint64_t ping = 0;
    Life asker;
    std::uint64_t request = 0;
    Instant nack_at;
  };
  /// A request of ours: the helpers that owe an answer to it.
  struct Request {
    std::uint64_t number = 0;
    std::vector<Life> owing;
    Instant until;
  };
  struct Stale {
    std::uint64_t ping = 0;  // An answer to this ping or a later one ends it,
    Instant until;           // or this time does, without an answer.
  };

  void begin_event(Instant now);
  MembershipEffects end_event();
  void forgive(Duration slept);
  void become_stale();
  void become_fresh();

  void beat();
  void ask_seeds();
  void judge_health();
  void judge_members();
  void expire_relays();
  void expire_requests();

  void take(const Claim& claim);
  void take_about_self(const Claim& claim);
  void believe(const Claim& claim, DownWhy why);
  void declare(Member& member, MemberState state, DownWhy why);
  void suspect(Member& member);
  void await_reconnect(Member& member);
  void tell_the_dead(Life from, const Member& known, const MembershipMessage& message);

  void handle(const Member& from, const membership::Ping& ping);
  void handle(Member& from, const membership::Ack& ack);
  void handle(const Member& from, const membership::PingRequest& request);
  void handle(const Member& from, const membership::Nack& nack);
  void handle(const Member& from, const membership::Gossip& gossip);
  void handle(const Member& from, const membership::Join& join);
  void handle(const Member& from, const membership::Welcome& welcome);
  void handle(const Member& from, const membership::Obituary& obituary);
  void settle_request(std::uint64_t number, Life helper);

  std::uint64_t ping(Member& member);
  void send(const Claim& to, MembershipMessage message);
  std::vector<Claim> claims();

  MembershipOptions options_;
  Random random_;
  Claim self_;
  LoadSummary load_;
  MemberTable table_;
  LocalHealth health_;
  std::vector<Seed> seeds_;
  std::vector<Relay> relays_;      // At most membership_exchanges_max.
  std::vector<Request> requests_;  // At most membership_exchanges_max.
  std::optional<Stale> stale_;
  std::uint64_t next_number_ = 1;
  std::uint32_t acks_since_beat_ = 0;
  bool late_since_beat_ = false;
  Instant next_beat_;
  Instant last_event_;
  Instant planned_;  // wake_at() after the last event.
  bool over_ = false;

  // State of the event being handled.
  Instant now_;
  MembershipEffects effects_;
  bool news_ = false;  // States changed that others should hear of at once.
};

}  // namespace dag
