#pragma once
// Bytes of the log of a job's cell (schema/cell_log.capnp): commands, snapshots, and the data that nodes
// attach to them.

#include "dag/blob.hpp"
#include "libdag/base/result.hpp"
#include "libdag/cell/snapshot.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/wire/code_map.hpp"

namespace dag::wire {

/// Throws Failure (frame_invalid) for code that `codes` does not know.
Blob encode(const CellCommand& command, const CodeMap& codes = CodeMap::of_this_process());
Blob encode(const CellSnapshot& snapshot, const CodeMap& codes = CodeMap::of_this_process());

Blob encode(const Submission& submission);

/// All of it or nothing (log_damaged), also for data of a newer version that this one does not know.
Result<CellCommand> decode_command(std::span<const std::byte> bytes,
                                   const CodeMap& codes = CodeMap::of_this_process());
Result<CellSnapshot> decode_snapshot(std::span<const std::byte> bytes,
                                     const CodeMap& codes = CodeMap::of_this_process());
Result<Submission> decode_submission(std::span<const std::byte> bytes);

}  // namespace dag::wire
