#pragma once
// What a replica has on its disk, and how that changes: a fold over what was written, so that a log that only
// grows can hold it.

#include <optional>
#include <variant>
#include <vector>

#include "libdag/consensus/entry.hpp"

namespace dag::consensus {

/// Entries that replace whatever was at `from` and behind.
struct StoredEntries {
  Index from = 0;
  std::vector<Entry> entries;
};
/// A Snapshot replaces older ones and the entries that it covers; and all entries, if the one at its index is
/// another, or is not there.
using StoredChange = std::variant<Vote, StoredEntries, Snapshot>;

struct Stored {
  Vote vote;
  std::optional<Snapshot> snapshot;  ///< none: no log was begun here
  std::vector<Entry> entries;        ///< from snapshot->index + 1 on

  /// In the order of writing. Bytes from a disk must have been checked before.
  void put(const StoredChange& change);
};

}  // namespace dag::consensus
