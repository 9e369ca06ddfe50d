#pragma once
// Which processes need a copy of bytes, so that the job does not lose the bytes with a process.

#include <vector>

#include "libdag/job/messages.hpp"

namespace dag {

/// The lives that need a copy, so that there are two, on two nodes if there are. `self` is asked first.
std::vector<Life> lacks_second_node(const message::JobState& state, Life self, std::vector<Life> holders);

/// Lives that still need a copy of a saved state, which must outlive the process that wrote it. With one
/// replica: the cell's, since the job cannot outlive it, and its node brings the state to the disks of all
/// that have the record; otherwise enough for two copies, on two nodes if there are.
std::vector<Life> lacks_copies(const message::JobState& state, Life self, std::vector<Life> holders);

}  // namespace dag
