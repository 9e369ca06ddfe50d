#pragma once
// One example of everything that can be said, with every field set to something that is not its default.
// Golden frames, mutations and the weighing test all begin with these, so a new message is tested once it has
// a sample.

#include <string>
#include <vector>

#include "libdag/wire/envelope.hpp"

namespace dag::wire::samples {

struct Sample {
  /// Also the name of its golden file.
  std::string name;
  Operation operation;
};

inline Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{process + 10}}; }

inline std::vector<Claim> claims() {
  Claim first;
  first.life = life(1);
  first.state = MemberState::suspect;
  first.beat = 77;
  first.endpoint = {"127.0.0.1:4000", "127.0.0.1:4001"};
  first.load.tasks_ready = 12;
  first.load.devices = {{"cpu", 8, 3, 64ull << 30, 17ull << 30, std::chrono::microseconds(1500)},
                        {"cuda", 1, 0, 24ull << 30, 1ull << 30, std::chrono::seconds(2)}};
  Claim second;
  second.life = life(2);
  second.state = MemberState::left;
  return {first, second};
}

inline void add_handshake(std::vector<Sample>& all) {
  all.push_back(
      {"hello", Handshake{link::Hello{
                    ClusterId{0xC0FFEE}, {1, 3}, life(1), "4f1de2", "127.0.0.1:4000", "127.0.0.1:4001"}}});
  all.push_back({"welcome", Handshake{link::Welcome{ClusterId{0xC0FFEE}, 2, life(2), "4f1de2", "[::1]:4000",
                                                    "[::1]:4001"}}});
  all.push_back({"hello_refused", Handshake{link::HelloRefused{
                                      life(2), 107, "n1.11 runs build a, n2.12 runs build b", "one file"}}});
}

inline void add_membership(std::vector<Sample>& all) {
  using namespace membership;
  all.push_back({"ping", MembershipMessage{Ping{5, claims()}}});
  all.push_back({"ack", MembershipMessage{Ack{5, claims()}}});
  all.push_back({"ping_request", MembershipMessage{PingRequest{6, life(3), claims()}}});
  all.push_back({"nack", MembershipMessage{Nack{6, {}}}});
  all.push_back({"gossip", MembershipMessage{Gossip{claims()}}});
  all.push_back({"join", MembershipMessage{Join{"node7:7117", claims()}}});
  all.push_back({"member_welcome", MembershipMessage{membership::Welcome{"node7:7117", claims()}}});
  all.push_back({"obituary", MembershipMessage{Obituary{claims()[0], 4, {claims()[1]}}}});
}

inline std::vector<Sample> all() {
  std::vector<Sample> all;
  all.push_back({"unimplemented", Unimplemented{9, 4}});
  add_handshake(all);
  add_membership(all);
  return all;
}

/// A numbered frame; every field of the header says something else.
inline Envelope envelope_of(std::vector<Operation> operations) {
  Envelope envelope;
  envelope.header.cluster = ClusterId{0xC0FFEE};
  envelope.header.from = life(1);
  envelope.header.to = life(2);
  envelope.header.seq = 42;
  for (const Operation& operation : operations) envelope.header.charge_bytes += size_bytes(operation);
  envelope.header.ack = 40;
  envelope.header.ack_beyond = 0x15;
  envelope.header.credit_operations = 20'000;
  envelope.header.credit_bytes = 70'000'000;
  envelope.header.probe = 3;
  envelope.header.answer = 2;
  envelope.operations = std::move(operations);
  return envelope;
}

}  // namespace dag::wire::samples
