#pragma once
// A lone copy of a log: a test plays the others, its disk and the time.

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libdag/consensus/replica.hpp"

namespace dag::consensus::test {

inline const Seat a{ProcessId{0}, 10}, b{ProcessId{1}, 11}, c{ProcessId{2}, 12};

inline Blob text(const char* letters) {
  return Blob(std::as_bytes(std::span(letters, std::strlen(letters))));
}
inline std::string text_of(const Blob& blob) {
  const auto bytes = blob.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A replica, and its effects, by kind.
struct Box {
  explicit Box(Seat self, Stored stored = {}) : Box(options(self), std::move(stored)) {}
  explicit Box(const ReplicaOptions& all, Stored stored = {})
      : replica(all, stored, now), disk(std::move(stored)) {
    take();
  }
  static ReplicaOptions options(Seat self) {
    ReplicaOptions options;
    options.self = self;
    return options;
  }
  void take() {
    for (Effect& effect : replica.take_effects()) {
      if (auto* one = std::get_if<Send>(&effect)) sent.push_back(std::move(*one));
      if (auto* one = std::get_if<Write>(&effect)) waiting.push_back(std::move(*one));
      if (auto* one = std::get_if<Apply>(&effect)) applied.push_back(std::move(*one));
      if (auto* one = std::get_if<Readable>(&effect)) readable.push_back(*one);
    }
  }
  void begin(std::vector<Seat> voters) {
    replica.begin({std::move(voters), {}}, text("genesis"), now);
    take();
    write();
  }
  void write() {
    while (!waiting.empty()) {
      const std::uint64_t last = waiting.back().number;
      for (Write& one : waiting) disk.put(one.change);
      waiting.clear();
      replica.on_written(last, now);
      take();
    }
  }
  void hear(const Message& message) {
    replica.on_message(message, now);
    take();
  }
  /// `leader` says that it leads, in term 1.
  void follow(Seat leader) { hear(Append{leader, 1, 0, 0, {}, 0, 0}); }
  void wait_until_due() {
    now = replica.due();
    replica.on_time(now);
    take();
  }
  /// Asks for votes, and gets that of `voter` each time.
  void be_elected_by(Seat voter) {
    wait_until_due();
    hear(VoteAnswer{voter, replica.term() + 1, true, true});
    write();
    hear(VoteAnswer{voter, replica.term(), true, false});
    write();
    REQUIRE(replica.role() == Replica::Role::leader);
    sent.clear();
  }
  template <class Kind>
  std::vector<Kind> said() {
    std::vector<Kind> found;
    for (const Send& one : sent) {
      if (const auto* message = std::get_if<Kind>(&one.message)) found.push_back(*message);
    }
    sent.clear();
    return found;
  }

  Instant now{std::chrono::seconds(1)};
  Replica replica;
  Stored disk;
  std::vector<Send> sent;
  std::vector<Write> waiting;
  std::vector<Apply> applied;
  std::vector<Readable> readable;
};

/// `a`, which leads these with the vote of `b`.
inline Box leader_of(std::vector<Seat> voters) {
  Box box(a);
  box.begin(std::move(voters));
  box.be_elected_by(b);
  return box;
}

inline AppendAnswer on_disk(Seat who, Term term, Index index, std::uint64_t beat = 0) {
  return {who, term, true, index, false, beat};
}

}  // namespace dag::consensus::test
