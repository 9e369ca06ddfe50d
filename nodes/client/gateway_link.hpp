#pragma once
// A client's connection to one node of a cluster: questions and their answers, and news of its jobs. Decides
// nothing; the node with the other end is libdag/gateway/gateway.hpp.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"
#include "nodes/transport/transport.hpp"

namespace dag {

/// Called on the transport's thread; must not block.
struct GatewayEvents {
  /// TaskSettled, JobEnded, JobLost, JobMoved.
  std::function<void(ClientMessage message)> told;
  std::function<void(wire::JobNote note)> note;
  /// The node is gone; nothing more will come. Waiting calls end after this event.
  std::function<void(Error why)> lost;
};

class GatewayLink {
 public:
  using Question = std::function<ClientMessage(std::uint64_t number)>;
  using Answered = std::function<void(const client::Answer&)>;
  /// Time that a node may take to answer the first Hello, unless the caller sets another limit.
  static constexpr Duration connect_within_default = std::chrono::seconds(5);
  /// A full node answers that it has no room for another client now: it is waited for this many times longer.
  static constexpr int patience_with_full_node = 12;

  /// HOST[:PORT]. Throws Failure: address_invalid, peer_unreachable, peer_version, limit_reached.
  GatewayLink(const std::string& address, GatewayEvents events,
              Duration connect_within = connect_within_default);
  /// Not on the thread of its events.
  ~GatewayLink();

  /// Sends the question, with a number of its own, and waits for the answer, which may hold an error;
  /// `on_interim` gets answers that come before it. Throws cluster_lost and, after `limit`, timed_out.
  client::Answer exchange(const Question& question, std::optional<Duration> limit = std::nullopt,
                          const Answered& on_interim = {});
  /// The same; the answer's error is thrown too.
  client::Answer ask(const Question& question, std::optional<Duration> limit = std::nullopt,
                     const Answered& on_interim = {});
  /// Does not wait. `answered` is called on the transport's thread and must not block; not at all when the
  /// node is lost first.
  void inquire(const Question& question, Answered answered);
  /// Treats the node as lost: it says nothing, though its connection stands.
  void give_up(Error why) { lose(std::move(why)); }
  void send(ClientMessage message);
  void send(KeeperMessage message);
  const std::string& address() const { return address_; }

 private:
  class OnTransport;
  void answered(client::Answer answer);
  void lose(Error why);

  const std::string address_;
  const GatewayEvents events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Life> node_;
  bool losing_ = false;
  std::optional<Error> full_;  ///< why the node does not welcome us yet
  std::optional<Error> lost_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::vector<client::Answer>> answers_;  // To questions that are waited for.
  std::map<std::uint64_t, Answered> inquiries_;
  std::unique_ptr<Transport> transport_;  ///< last: its thread uses the rest
};

}  // namespace dag
