#pragma once
// A worker process from its first job to its last: between two of them nothing of the first is left but what
// its kernels have left in the process (globals, files, threads of theirs).

#include "libdag/client/node.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

/// Returns with the status that the process is to end with.
int be_worker_process(const NodeOptions& options, WorkerSeat seat);

}  // namespace dag
