#include "nodes/client/gateway_link.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libdag/base/saturating.hpp"
#include "libdag/host/host.hpp"
#include "nodes/machine/clock.hpp"
#include "nodes/process/parts.hpp"

namespace dag {
namespace {

/// The address by which this host reaches `to`, so that the node can reach us by it. (A datagram socket that
/// is connected sends nothing; it only asks for the route.)
std::string host_towards(const net::Address& to) {
  if (net::is_loopback(to)) return "127.0.0.1";
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found) != 0 ||
      found == nullptr) {
    throw Failure({ErrorCode::peer_unreachable, "no host is known as '" + to.host + "'",
                   "write it as HOST:PORT, as `dag up` has printed it"});
  }
  std::string host = "127.0.0.1";
  const int probe = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST];
  if (probe >= 0 && connect(probe, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(probe, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
          0) {
    host = text;
  }
  if (probe >= 0) close(probe);
  freeaddrinfo(found);
  return host;
}

Life draw_client() {
  const std::uint64_t drawn = draw_number();
  return {client_process(static_cast<std::uint16_t>(drawn)), {static_cast<std::uint32_t>(drawn >> 32) | 1}};
}

}  // namespace

class GatewayLink::OnTransport final : public TransportEvents {
 public:
  explicit OnTransport(GatewayLink& link) : link_(link) {}

  void note(Life /*from*/, wire::JobNote note) override {
    if (link_.events_.note) link_.events_.note(std::move(note));
  }
  void client(Life /*from*/, ClientMessage message) override {
    if (auto* answer = std::get_if<client::Answer>(&message)) {
      link_.answered(std::move(*answer));
    } else if (link_.events_.told) {
      link_.events_.told(std::move(message));
    }
  }
  // A broken connection may come back; a node that is gone is refused.
  void refused(Life /*life*/) override {
    link_.lose({ErrorCode::cluster_lost, "the node at " + link_.address_ + " is gone",
                "`dag node list --address` of another node shows which nodes are up"});
  }
  void unwelcome(const std::string& /*address*/, const Error& why) override {
    if (why.code != ErrorCode::limit_reached) return link_.lose(why);
    const std::lock_guard lock(link_.mutex_);
    link_.full_ = why;
  }
  void broken(Life /*life*/, const Error& why) override { link_.lose(why); }
  void welcomed(const std::string& /*address*/, Life life, const Endpoint& endpoint) override {
    link_.transport_->member_up(life, endpoint);
    const std::lock_guard lock(link_.mutex_);
    link_.node_ = life;
    link_.changed_.notify_all();
  }

 private:
  GatewayLink& link_;
};

GatewayLink::GatewayLink(const std::string& address, GatewayEvents events, Duration connect_within)
    : address_(net::to_string(net::parse_address(address).value_or_throw())), events_(std::move(events)) {
  const net::Address node = net::parse_address(address).value_or_throw();
  TransportSetup setup;
  setup.self = draw_client();
  setup.sockets.listen = {host_towards(node), 0};
  setup.sockets.beyond_loopback = may_leave_loopback();
  auto opened = Transport::open(std::move(setup), std::make_unique<OnTransport>(*this));
  transport_ = std::move(opened).value_or_throw();
  transport_->connect(address_);
  transport_->begin();
  std::unique_lock lock(mutex_);
  const auto is_decided = [this] { return node_ || lost_; };
  if (!changed_.wait_for(lock, connect_within, is_decided) && full_)
    changed_.wait_for(lock, connect_within * (patience_with_full_node - 1), is_decided);
  if (lost_) throw Failure(*lost_);
  if (!node_ && full_) throw Failure(*full_);
  if (!node_) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(connect_within).count();
    throw Failure(
        {ErrorCode::peer_unreachable,
         "no node of a cluster answers at " + address_ + " within " + std::to_string(seconds) + " s",
         "`dag up` starts one here and prints its address; is this the address it has printed?"});
  }
}

// Not by reset(): until its thread has ended, events use the pointer.
GatewayLink::~GatewayLink() = default;

client::Answer GatewayLink::exchange(const Question& question, std::optional<Duration> limit,
                                     const Answered& on_interim) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = ++last_number_;
  answers_[number];
  lock.unlock();
  send(question(number));
  lock.lock();
  const std::chrono::steady_clock::time_point until(
      later(steady_now(), limit.value_or(Duration::max())).since_start);
  for (;;) {
    const bool in_time =
        changed_.wait_until(lock, until, [&] { return lost_ || !answers_.at(number).empty(); });
    if (answers_.at(number).empty()) {
      answers_.erase(number);
      if (lost_) throw Failure(*lost_);
      if (!in_time) throw Failure({ErrorCode::timed_out, "no answer within the time given"});
    }
    std::vector<client::Answer>& come = answers_.at(number);
    client::Answer answer = std::move(come.front());
    come.erase(come.begin());
    if (!answer.wants_program) {
      answers_.erase(number);
      return answer;
    }
    lock.unlock();
    if (on_interim) on_interim(answer);
    lock.lock();
  }
}

client::Answer GatewayLink::ask(const Question& question, std::optional<Duration> limit,
                                const Answered& on_interim) {
  client::Answer answer = exchange(question, limit, on_interim);
  if (answer.error) throw Failure(*answer.error);
  return answer;
}

void GatewayLink::inquire(const Question& question, Answered answered) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = ++last_number_;
  inquiries_[number] = std::move(answered);
  lock.unlock();
  send(question(number));
}

void GatewayLink::send(ClientMessage message) {
  std::unique_lock lock(mutex_);
  const Life to = *node_;
  lock.unlock();
  transport_->send(to, std::move(message));
}

void GatewayLink::send(KeeperMessage message) {
  std::unique_lock lock(mutex_);
  const Life to = *node_;
  lock.unlock();
  transport_->send(to, std::move(message));
}

void GatewayLink::answered(client::Answer answer) {
  std::unique_lock lock(mutex_);
  if (auto inquiry = inquiries_.extract(answer.number)) {
    lock.unlock();
    inquiry.mapped()(answer);
    return;
  }
  const auto waiting = answers_.find(answer.number);
  if (waiting == answers_.end()) return;
  waiting->second.push_back(std::move(answer));
  changed_.notify_all();
}

void GatewayLink::lose(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(losing_, true)) return;
  }
  // First: a caller that waits for an answer asks next about its job.
  if (events_.lost) events_.lost(why);
  const std::lock_guard lock(mutex_);
  lost_ = std::move(why);
  changed_.notify_all();
}

}  // namespace dag
