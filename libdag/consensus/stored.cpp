#include "libdag/consensus/stored.hpp"

#include "libdag/base/check.hpp"
#include "libdag/base/overloaded.hpp"

namespace dag::consensus {

void Stored::put(const StoredChange& change) {
  std::visit(Overloaded{[&](const Vote& newer) { vote = newer; },
                        [&](const StoredEntries& more) {
                          DAG_CHECK(snapshot && more.from > snapshot->index);
                          const std::size_t kept = more.from - snapshot->index - 1;
                          DAG_CHECK(kept <= entries.size());
                          entries.resize(kept);
                          entries.insert(entries.end(), more.entries.begin(), more.entries.end());
                        },
                        [&](const Snapshot& newer) {
                          const Index base = snapshot ? snapshot->index : 0;
                          const std::size_t covered = newer.index - base;
                          const bool goes_on = snapshot && newer.index > base && covered <= entries.size() &&
                                               entries[covered - 1].term == newer.term;
                          const auto end = goes_on ? entries.begin() + static_cast<std::ptrdiff_t>(covered)
                                                   : entries.end();
                          entries.erase(entries.begin(), end);
                          snapshot = newer;
                        }},
             change);
}

}  // namespace dag::consensus
