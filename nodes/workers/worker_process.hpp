#pragma once
// A worker process from its first job to its last. Between two jobs nothing of the first is left but the
// leftovers of its kernels in the process (globals, files, threads of theirs).

#include "libdag/client/node.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

/// Returns with the status that the process is to end with.
int be_worker_process(const NodeOptions& options, WorkerSeat seat);

}  // namespace dag
