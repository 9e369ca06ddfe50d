#pragma once
// Memory of this process's large outputs: segments of shared memory, so that other processes of the host read
// an output in place. A segment holds a single output. Its owner reuses it for the next output of about its
// size: its pages are there, and others have mapped it.
//
// An arena per process, because the maker of a Blob does not know where it will go. Before
// begin() is called, and where there is no shared memory, large outputs lie on the heap like all
// others.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dag/blob.hpp"
#include "libdag/ring/messages.hpp"

namespace dag {

struct ArenaLimits {
  /// Segments in use and waiting; each is a descriptor. Further outputs lie on the heap.
  std::size_t segments_max = 256;
  /// Memory of segments that wait for reuse; those that have waited longest are removed.
  std::size_t waiting_bytes_max = std::size_t{1} << 30;
};

struct ArenaUse {
  std::size_t segments = 0, waiting = 0, waiting_bytes = 0;
};

namespace arena {

/// From now on large Blobs lie in shared memory. A process that opens a segment must name its nonce; nonces
/// are drawn from `seed`.
void begin(std::uint64_t seed, ArenaLimits limits = {});
/// Makes no more segments, and removes waiting ones. Those in use stay until no Blob refers to them.
void end();
/// Location for other processes; none for a Blob that is elsewhere.
std::optional<ring::SharedBytes> find(const Blob& blob);
ArenaUse use();

}  // namespace arena
}  // namespace dag
