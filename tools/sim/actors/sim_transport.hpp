#pragma once
// The transport of a simulated process: it stands for nodes/transport and has the same events. It knows the
// living and the dead, and keeps messages for lives whose address is not known yet; messages travel as bytes,
// so each must be one that its receiver takes.

#include <deque>
#include <map>
#include <set>

#include "nodes/transport/transport.hpp"
#include "tools/sim/actors/network.hpp"

namespace dag::sim {

class SimTransport final : public Listener {
 public:
  /// With `remarks` each message that arrives is one.
  SimTransport(Network& network, Life self, std::string address, std::unique_ptr<TransportEvents> events,
               bool remarks = false);
  ~SimTransport() override { close(); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  /// Nothing leaves or arrives from here on: the process is over.
  void close();
  const Endpoint& endpoint() const { return endpoint_; }

  // As those of Transport.
  void send(Life to, wire::Operation operation);
  void send(Life to, std::vector<EdgeNews>&& news);
  void send(const SendMembership& message);
  /// False: nobody listens there.
  bool connect(const std::string& address);
  void member_up(Life life, const Endpoint& endpoint);
  void member_down(Life life);
  void forget(Life life);

  void arrived(Life from, const std::string& address, const Blob& frame) override;
  void disconnected(Life life) override;
  void refused(Life life) override;
  void heard(Life life, bool heard) override;

 private:
  void know(Life life);
  void remark(Life from, const JobMessage& message) const;
  void hand_on(Life from, const std::string& address, wire::Operation& operation);

  Network& network_;
  const Life self_;
  const Endpoint endpoint_;
  const std::unique_ptr<TransportEvents> events_;
  const bool remarks_;
  bool closed_ = false;
  std::set<Life> known_, dead_;
  std::map<Life, std::deque<Blob>> waiting_;  ///< for lives that are not known yet
};

}  // namespace dag::sim
