#pragma once
// Which process of a symmetric run this is: what `dag run` says in the environment. Decides only what a valid
// place is; what follows from it is the node's.

#include <cstdint>
#include <optional>

#include "libdag/base/result.hpp"
#include "libdag/link/frame_header.hpp"
#include "libdag/net/address.hpp"

namespace dag {

struct Place {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  /// Where process 0 listens, and the others look for it.
  net::Address first;
  /// Zero: process 0 draws one, and the others take whichever answers at `first`.
  ClusterId cluster;
};

/// From DAG_RANK, DAG_SIZE, DAG_PEERS and DAG_CLUSTER (16 hexadecimal digits; may be missing). None of them
/// set, or a size of one: the process is alone. configuration_invalid names the variable and what it should
/// be.
Result<std::optional<Place>> place_from_environment();

}  // namespace dag
