#pragma once
// The worker processes that a process does not hear, as its transport reports them one by one, for
// keeper::Unheard, which names all of them. Nodes and clients are left out: membership knows whether a node
// is there, and the leader of a job sees for itself which processes it does not hear.

#include <set>
#include <vector>

#include "libdag/host/host.hpp"

namespace dag {

class Silences {
 public:
  /// True: the life is of a kind that Unheard names.
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
