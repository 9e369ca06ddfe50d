// The thread that looks into rings when no lane does: all lanes may run long kernels. It sleeps on a bell of
// its own, which a peer rings when it finds no lane asleep. Then it gives the lanes a moment: those that run
// short kernels read the rings between two of them. So while peers say nothing it costs nothing, and while
// they say much, one wake per moment; and the moments become longer as long as lanes do read.

#include <pthread.h>

#include <algorithm>

#include "actors/lanes/lane.hpp"

namespace dag {
namespace {

/// How long news may wait for a lane, when lanes run long kernels; and when they did not lately.
constexpr Duration patience_min = std::chrono::milliseconds(1), patience_max = std::chrono::milliseconds(16);
/// As for lanes: a peer may swallow a call.
constexpr Duration listens_max = std::chrono::seconds(2);

}  // namespace

void Lanes::ring_came() {
  const std::lock_guard lock(listener_mutex_);
  if (stopping_.load()) return;
  if (!listener_.joinable()) {
    listener_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "dag-listener");
      listen();
    });
  }
  // The peer may have rung for earlier news when nobody listened.
  bells_.ring();
}

void Lanes::ring_went() {
  bells_.workers.rouse();
  bells_.listener.rouse();
}

void Lanes::listen() {
  Duration patience = patience_min;
  while (!stopping_.load()) {
    bells_.listener.prepare_wait();
    if (stopping_.load() || ring_news(*edges_.known())) {
      bells_.listener.cancel_wait();
    } else {
      bells_.listener.wait(listens_max);
    }
    if (stopping_.load()) return;
    // News that lies there and is not touched for a moment is news that no lane reads.
    const std::shared_ptr<const Edges::Known> known = edges_.known();
    std::vector<std::uint64_t> before;
    for (const auto& peer : known->peers) before.push_back(peer->ring.carrier->polled_bytes());
    std::this_thread::sleep_for(patience);
    bool look = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const ring::RingCarrier& carrier = *known->peers[i]->ring.carrier;
      look = look || (carrier.has_news() && carrier.polled_bytes() == before[i]) ||
             known->peers[i]->held_up.load(std::memory_order_relaxed);
    }
    patience = look ? patience_min : std::min(patience * 2, patience_max);
    if (look && !stopping_.load()) poll_rings();
  }
}

}  // namespace dag
