#pragma once
// Whether two replicas have the same on their disks.

#include <algorithm>

#include "libdag/consensus/stored.hpp"

namespace dag::test {

inline bool same(const consensus::Entry& one, const consensus::Entry& other) {
  return one.term == other.term && one.type == other.type && one.command.same_bytes(other.command) &&
         one.configuration == other.configuration;
}

inline bool same(const consensus::Snapshot& one, const consensus::Snapshot& other) {
  return one.index == other.index && one.term == other.term && one.configuration == other.configuration &&
         one.state.same_bytes(other.state);
}

inline bool same(const consensus::Stored& one, const consensus::Stored& other) {
  return one.vote == other.vote && one.snapshot.has_value() == other.snapshot.has_value() &&
         (!one.snapshot || same(*one.snapshot, *other.snapshot)) &&
         std::ranges::equal(one.entries, other.entries,
                            [](const auto& a, const auto& b) { return same(a, b); });
}

}  // namespace dag::test
