#pragma once
// The client's view of a node: options, and a function that nodes/ defines. Declared here so that the client
// layer needs no header of the layers above; libdag.so links all of them.

#include <cstdint>
#include <memory>
#include <string>

#include "libdag/client/client.hpp"

namespace dag {

struct NodeOptions {
  /// HOST[:PORT] of a node of a shared cluster, where the job is to run; empty: where the user's cluster is
  /// (user_cluster.hpp), else in this process, or in those of `dag run`.
  std::string address = {};
  /// No cluster is looked for.
  bool here = false;
  /// Kernels run in worker processes, in whatever form.
  bool isolate = false;
  /// Jobs run in worker processes as well, and what they give is compared.
  bool check = false;
  /// Threads that run kernels; 0: as many as this node's share of the cores.
  std::uint32_t lanes = 0;
  /// How far a job may spawn ahead of its record (libdag/job/spawn_credit.hpp); 0: as far as it says there.
  std::uint64_t spawn_tasks = 0, spawn_bytes = 0;
  /// Processes of one host share rings in memory; without, all they say goes through sockets.
  bool rings = true;
  /// off, error, warn, info or debug; to stderr.
  std::string log_level = "warn";
  /// Tests only: every task supervised, or as it needs.
  bool supervise_all = false;
};

/// Starts a node in this process: its actors, lanes and links, seen as a client. They end with the object.
/// Throws Failure when it cannot.
std::unique_ptr<detail::Client> start_node(const NodeOptions& options);

}  // namespace dag
