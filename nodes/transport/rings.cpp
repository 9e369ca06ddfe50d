#include "nodes/transport/rings.hpp"

#include <algorithm>

#include "libdag/base/overloaded.hpp"
#include "nodes/machine/draw_number.hpp"

namespace dag::transport {

Rings::Rings(std::shared_ptr<ring::Doorbell> doorbell, TransportEvents& events,
             std::function<void(Life, RingMessage)> send)
    : doorbell_(std::move(doorbell)), events_(events), send_(std::move(send)) {}

void Rings::begin(Life life) {
  if (!doorbell_) return;
  Peer& peer = peers_[life];
  if (peer.begun || peer.closed) return;
  const auto shares = [](const auto& one) { return one.second.begun; };
  if (std::count_if(peers_.begin(), peers_.end(), shares) == peers_max) {
    return close(life, peer, "there are rings with " + std::to_string(peers_max) + " others");
  }
  peer.begun = true;
  Result<ring::RingMemory> inbox = ring::RingMemory::create(draw_number());
  if (!inbox) return close(life, peer, inbox.error().what);
  Result<ring::Offer> offer = ring::offer(*inbox, *doorbell_);
  if (!offer) return close(life, peer, offer.error().what);
  peer.inbox = std::move(inbox).value();
  send_(life, std::move(offer).value());
  if (peer.offered) open(life, peer);
}

void Rings::on_message(Life from, RingMessage message) {
  if (!doorbell_) {
    if (std::holds_alternative<ring::Offer>(message)) send_(from, ring::Closed{"it shares no rings"});
    return;
  }
  Peer& peer = peers_[from];
  if (peer.closed) return;
  std::visit(Overloaded{[&](ring::Offer& offer) {
                          if (peer.offered) return;
                          peer.offered = std::move(offer);
                          if (peer.begun) open(from, peer);
                        },
                        [&](const ring::Ready&) {
                          peer.peer_is_ready = true;
                          bring_up(from, peer);
                        },
                        [&](const ring::Closed& closed) {
                          events_.remark("no ring with " + to_string(from) + ", as it says: " + closed.why);
                          let_go(from, peer);
                        },
                        [](const auto&) {}},  // About outputs: hand_overs.hpp.
             message);
}

void Rings::open(Life life, Peer& peer) {
  Result<ring::Outbound> outbound = ring::accept(*peer.offered);
  if (!outbound) return close(life, peer, outbound.error().what);
  peer.carrier =
      std::make_shared<ring::RingCarrier>(*std::exchange(peer.inbox, {}), std::move(outbound).value());
  send_(life, ring::Ready{});
  bring_up(life, peer);
}

void Rings::bring_up(Life life, Peer& peer) {
  if (peer.up || !peer.carrier || !peer.peer_is_ready) return;
  peer.up = true;
  events_.ring_up(life, peer.carrier);
}

void Rings::close(Life life, Peer& peer, const std::string& why) {
  events_.remark("no ring with " + to_string(life) + ": " + why);
  send_(life, ring::Closed{why});
  let_go(life, peer);
}

void Rings::let_go(Life life, Peer& peer) {
  const bool was_up = peer.up;
  peer = {};
  peer.closed = true;
  if (was_up) events_.ring_down(life);
}

bool Rings::up(Life life) const {
  const auto found = peers_.find(life);
  return found != peers_.end() && found->second.up;
}

void Rings::end(Life life) {
  const auto found = peers_.find(life);
  if (found == peers_.end()) return;
  let_go(life, found->second);
  peers_.erase(found);
}

void Rings::look() {
  for (auto& [life, peer] : peers_) {
    if (!peer.up) continue;
    const std::optional<Error> error = peer.carrier->error();
    if (!error) continue;
    events_.log("the ring with " + to_string(life) + " is closed: " + error->what);
    close(life, peer, error->what);
  }
}

}  // namespace dag::transport
