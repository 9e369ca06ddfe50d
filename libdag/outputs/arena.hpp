#pragma once
// The memory that large outputs of this process lie in: segments of shared memory, so that other processes of
// the host read an output where it is. One segment holds one output. Its owner uses it again for the next one
// of about its size: its pages are there, and others have mapped it.
//
// One per process, because Blobs are made by whoever has a value, without being told where they will go.
// Until begin() is called, and where there is no shared memory, large outputs lie on the heap like all
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
  /// Segments that wait for their next use; the ones that have waited longest go.
  std::size_t waiting_bytes_max = std::size_t{1} << 30;
};

struct ArenaUse {
  std::size_t segments = 0, waiting = 0, waiting_bytes = 0;
};

namespace arena {

/// From now on large Blobs lie in shared memory. Who wants to open a segment must name its nonce; they are
/// drawn from `seed`.
void begin(std::uint64_t seed, ArenaLimits limits = {});
/// None is made there any more, and none waits. Those in use stay until nobody holds them.
void end();
/// Where others find it; nothing for a Blob that lies elsewhere.
std::optional<ring::SharedBytes> find(const Blob& blob);
ArenaUse use();

}  // namespace arena
}  // namespace dag
