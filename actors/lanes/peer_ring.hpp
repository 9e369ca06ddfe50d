#pragma once
// A process of this host with which this one shares rings, as lanes see it.

#include <memory>

#include "libdag/base/ids.hpp"
#include "libdag/ring/ring_carrier.hpp"

namespace dag {

struct PeerRing {
  Life peer;
  std::shared_ptr<ring::RingCarrier> carrier;
};

}  // namespace dag
