#pragma once
// The connections of one client to nodes of its cluster: opened on demand, closed when nobody uses them, and
// the node list that these nodes report. Decides nothing about jobs (remote_client.hpp).
//
// Locks: the owner may call with its lock held, never the other way: events are told unlocked.

#include <set>

#include "nodes/client/gateway_link.hpp"

namespace dag {

/// The id of a connection. A new connection to the same node has another id.
struct LinkId {
  std::uint64_t value = 0;  ///< 0: none
  auto operator<=>(const LinkId&) const = default;
  explicit operator bool() const { return value != 0; }
};

/// Called on threads of transports; must not block.
struct NodeLinkEvents {
  std::function<void(LinkId from, ClientMessage message)> told;
  std::function<void(wire::JobNote note)> note;
  std::function<void(LinkId link, const Error& why)> lost;
};

class NodeLinks {
 public:
  explicit NodeLinks(NodeLinkEvents events) : events_(std::move(events)) {}
  ~NodeLinks();
  NodeLinks(const NodeLinks&) = delete;
  NodeLinks& operator=(const NodeLinks&) = delete;

  /// The connection to this node; a new one where there is none. Throws Failure as GatewayLink does.
  LinkId open(const std::string& address, Duration within);
  bool is_up(LinkId link);
  /// Why the link is down.
  Error why_down(LinkId link);

  /// As of GatewayLink; throw cluster_lost when the link is not up.
  client::Answer exchange(LinkId link, const GatewayLink::Question& question,
                          std::optional<Duration> limit = std::nullopt,
                          const GatewayLink::Answered& on_interim = {});
  client::Answer ask(LinkId link, const GatewayLink::Question& question,
                     const GatewayLink::Answered& on_interim = {});
  /// Dropped when the link is not up. Does not wait.
  template <class Message>
  void send(LinkId link, Message message) {
    const std::lock_guard lock(mutex_);
    if (const auto found = links_.find(link); found != links_.end() && found->second.up()) {
      found->second.link->send(std::move(message));
    }
  }

  /// Control addresses of the living nodes by the newest answer, without those lost since. Behind them all
  /// nodes ever known: a node may come back.
  std::vector<std::string> nodes();
  /// Asks each link for the nodes, for later calls of nodes(); gives up a link that has not answered for
  /// silent_max while others may; closes links that are not `used`. Called from time to time, on a thread of
  /// its own: links end here.
  void look_after(const std::set<LinkId>& used);

  static constexpr Duration silent_max = std::chrono::seconds(20);

 private:
  struct Entry {
    std::string address;
    std::string listens;  ///< as the node says; empty until it said so
    std::unique_ptr<GatewayLink> link;
    std::optional<Error> lost;
    std::uint32_t users = 0;  ///< threads that wait for its answers
    Instant opened;
    std::optional<Instant> inquired;  ///< and not answered
    bool up() const { return link && !lost; }
  };
  struct Unreachable {
    Instant until;
    Error why;
  };

  void remember(const std::string& address);
  void inquire(LinkId id);
  void heard(LinkId id, const client::Answer& answer);
  void lose(LinkId id, const Error& why);

  const NodeLinkEvents events_;
  std::mutex opening_;  // Held while one connects; before mutex_.
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::vector<std::string> nodes_;
  std::vector<std::string> ever_;
  std::map<std::string, Unreachable> unreachable_;
  std::map<LinkId, Entry> links_;
};

}  // namespace dag
