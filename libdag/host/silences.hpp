#pragma once
// Which worker processes one does not hear, as its transport says it of one after the other: for
// keeper::Unheard, which names all of them. Nodes and clients are not spoken of: membership knows whether a
// node is there, and whoever leads a job sees for itself whom it does not hear.

#include <set>
#include <vector>

#include "libdag/host/host.hpp"

namespace dag {

class Silences {
 public:
  /// Whether this one is of those that are spoken of.
  bool note(Life life, bool heard) {
    if (is_node(life.process) || is_client(life.process)) return false;
    if (heard) {
      silent_.erase(life);
    } else {
      silent_.insert(life);
    }
    return true;
  }
  std::vector<Life> lives() const { return {silent_.begin(), silent_.end()}; }

 private:
  std::set<Life> silent_;
};

}  // namespace dag
