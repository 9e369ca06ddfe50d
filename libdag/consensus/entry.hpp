#pragma once
// Entries of a replicated log, and the set of its copies.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/base/ids.hpp"

namespace dag::consensus {

using Term = std::uint32_t;
/// Position of an entry, from 1. Index 0 is the initial state of the log.
using Index = std::uint64_t;

/// A copy's place: a node and the disk that the copy lies on. A node that comes back with an empty disk, or
/// with a damaged log, takes another seat, because the promises of the old seat are forgotten there.
struct Seat {
  ProcessId node;
  std::uint64_t disk = 0;
  auto operator<=>(const Seat&) const = default;
};

/// The seats that hold copies, and which of them vote. Sorted; no seat is in both lists.
struct Configuration {
  std::vector<Seat> voters;
  std::vector<Seat> learners;  ///< get the log, and do not vote

  bool votes(const Seat& seat) const { return std::binary_search(voters.begin(), voters.end(), seat); }
  bool learns(const Seat& seat) const { return std::binary_search(learners.begin(), learners.end(), seat); }
  bool has(const Seat& seat) const { return votes(seat) || learns(seat); }
  std::size_t quorum() const { return voters.size() / 2 + 1; }
  bool operator==(const Configuration&) const = default;
};

enum class EntryType : std::uint8_t {
  noop,           ///< a leader's first: settles what earlier terms left
  configuration,  ///< counts from when it is in the log, settled or not
  command,
};

struct Entry {
  Term term = 0;
  EntryType type = EntryType::noop;
  Blob command = {};
  Configuration configuration = {};
};

/// The state after `index`, in place of the entries up to there. The snapshot at index 0 is the genesis,
/// which begins the log.
struct Snapshot {
  Index index = 0;
  Term term = 0;
  Configuration configuration;
  Blob state;
};

/// The vote in a term, given at most once.
struct Vote {
  Term term = 0;
  std::optional<ProcessId> candidate;
  bool operator==(const Vote&) const = default;
};

}  // namespace dag::consensus
