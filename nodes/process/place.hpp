#pragma once
// The place of this process in a symmetric run, which `dag run` sets in the environment. Decides only which
// places are valid; the node acts on them.

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
  /// Zero: process 0 draws one, and the others take the one that answers at `first`.
  ClusterId cluster;
  /// In process 0: the pipe on which its launcher hears that all are here; -1: nobody listens.
  int gathered = -1;
  /// Memory that the processes share, to note the tasks that they run; -1: none.
  int running = -1;
};

/// From DAG_RANK, DAG_SIZE, DAG_PEERS, DAG_CLUSTER (16 hexadecimal digits; may be missing), DAG_GATHERED and
/// DAG_RUNNING (file descriptors; may be missing). None of them
/// set, or a size of one: the process is alone. configuration_invalid names the variable and what it should
/// be.
Result<std::optional<Place>> place_from_environment();

/// Tells the launcher, if there is one, that all processes of the run are here. Before that the launcher ends
/// the run when a process dies; afterwards the others take over its work. Once at most.
void say_gathered(const Place& place);

}  // namespace dag
