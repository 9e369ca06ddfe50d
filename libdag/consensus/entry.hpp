#pragma once
// What a replicated log consists of: entries, and who holds copies of it.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/base/ids.hpp"

namespace dag::consensus {

using Term = std::uint32_t;
/// Of an entry, from 1. Index 0 is what the log began with.
using Index = std::uint64_t;

/// One copy's place: a node, and the disk that the copy lies on. A node that comes back with an empty disk,
/// or with a log that is damaged, takes another seat: what the old one had promised nobody remembers there.
struct Seat {
  ProcessId node;
  std::uint64_t disk = 0;
  auto operator<=>(const Seat&) const = default;
};

/// Who holds copies, and whose words count. Sorted by seat; nobody is in both.
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

/// The state after `index`, instead of the entries up to there. The one at index 0 is the genesis: who begins
/// the log.
struct Snapshot {
  Index index = 0;
  Term term = 0;
  Configuration configuration;
  Blob state;
};

/// The vote of a term: nobody twice.
struct Vote {
  Term term = 0;
  std::optional<ProcessId> candidate;
  bool operator==(const Vote&) const = default;
};

}  // namespace dag::consensus
