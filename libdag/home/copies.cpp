#include "libdag/home/copies.hpp"

#include <algorithm>
#include <utility>

namespace dag {

std::vector<Life> lacks_second_node(const message::JobState& state, Life self, std::vector<Life> holders) {
  std::vector<Life> lacking;
  const auto has = [&](Life life) {
    return std::find(holders.begin(), holders.end(), life) != holders.end();
  };
  const auto on_two_nodes = [&] {
    return std::any_of(holders.begin(), holders.end(), [&](Life holder) {
      return node_of(holder.process) != node_of(holders.front().process);
    });
  };
  for (const bool anywhere : {false, true}) {
    const auto ask = [&](Life life) {
      if (on_two_nodes() || (anywhere && holders.size() >= 2) || !message::is_alive(state, life) || has(life))
        return;
      const bool elsewhere = std::none_of(holders.begin(), holders.end(), [&](Life holder) {
        return node_of(holder.process) == node_of(life.process);
      });
      if (!elsewhere && !anywhere) return;
      holders.push_back(life);
      lacking.push_back(life);
    };
    ask(self);
    for (const Life life : state.lives) ask(life);
  }
  return lacking;
}

std::vector<Life> lacks_copies(const message::JobState& state, Life self, std::vector<Life> holders) {
  std::vector<Life> lacking;
  const bool cell_has = std::find(holders.begin(), holders.end(), state.cell) != holders.end();
  if (!cell_has && (state.replicas == 1 || message::is_alive(state, state.cell))) {
    holders.push_back(state.cell);
    lacking.push_back(state.cell);
  }
  if (state.replicas == 1) return lacking;
  const std::vector<Life> more = lacks_second_node(state, self, std::move(holders));
  lacking.insert(lacking.end(), more.begin(), more.end());
  return lacking;
}

}  // namespace dag
