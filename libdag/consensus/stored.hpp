#pragma once
// The state of a replica's disk, and its changes: a fold over all writes, so that an append-only log can hold
// it.

#include <optional>
#include <variant>
#include <vector>

#include "libdag/consensus/entry.hpp"

namespace dag::consensus {

/// Entries that replace all entries from `from` on.
struct StoredEntries {
  Index from = 0;
  std::vector<Entry> entries;
};
/// A Snapshot replaces older ones and the entries that it covers. It replaces all entries if the one at its
/// index differs, or is missing.
using StoredChange = std::variant<Vote, StoredEntries, Snapshot>;

struct Stored {
  Vote vote;
  std::optional<Snapshot> snapshot;  ///< none: no log was begun here
  std::vector<Entry> entries;        ///< from snapshot->index + 1 on

  /// In the order of writing. Bytes from a disk must have been checked before.
  void put(const StoredChange& change);
};

}  // namespace dag::consensus
