#pragma once
// A client's connection to one node of a cluster: questions and their answers, and news of its jobs. Decides
// nothing; the node with the other end is libdag/keeper/gateway.hpp.

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
  /// TaskSettled, JobEnded, JobLost.
  std::function<void(ClientMessage message)> told;
  std::function<void(wire::JobNote note)> note;
  /// The node is gone; nothing more will come.
  std::function<void(Error why)> lost;
};

class GatewayLink {
 public:
  /// How long a node may take to answer the first Hello.
  static constexpr Duration connect_within = std::chrono::seconds(5);

  /// HOST[:PORT]. Throws Failure: address_invalid, peer_unreachable, peer_version.
  GatewayLink(const std::string& address, GatewayEvents events);
  ~GatewayLink();

  /// Sends the question, with a number of its own, and waits for the answer; `on_interim` gets answers that
  /// come before it. The answer's error is thrown; so are cluster_lost and, after `limit`, timed_out.
  client::Answer ask(const std::function<ClientMessage(std::uint64_t number)>& question,
                     std::optional<Duration> limit = std::nullopt,
                     const std::function<void(const client::Answer&)>& on_interim = {});
  void send(ClientMessage message);
  void send(KeeperMessage message);
  const std::string& address() const { return address_; }

 private:
  void answered(client::Answer answer);
  void lose(Error why);

  const std::string address_;
  const GatewayEvents events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Life> node_;
  std::optional<Error> lost_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::vector<client::Answer>> answers_;  // To questions that are waited for.
  std::unique_ptr<Transport> transport_;
};

}  // namespace dag
