#include "nodes/inspector/utilisation.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"
#include "libdag/client/node_lanes.hpp"

namespace dag::inspector {

void Utilisation::add(std::int64_t unix_seconds, const std::vector<NodeInfo>& nodes) {
  detail::NodeLanes lanes;
  for (const NodeInfo& node : nodes) {
    // What a node that is gone said last is no news.
    if (node.state == MemberState::alive) lanes += detail::lanes_of(node);
  }
  const Sample sample{unix_seconds, lanes.running, lanes.there};
  const std::lock_guard lock(mutex_);
  // Not in order: the clock was set back.
  while (!samples_.empty() && samples_.back().unix_seconds >= unix_seconds) samples_.pop_back();
  samples_.push_back(sample);
  if (samples_.size() > kept) samples_.pop_front();
}

std::string Utilisation::json() const {
  auto times = nlohmann::json::array(), busy = nlohmann::json::array(), all = nlohmann::json::array();
  const std::lock_guard lock(mutex_);
  for (const Sample& sample : samples_) {
    times.push_back(sample.unix_seconds);
    busy.push_back(sample.busy);
    all.push_back(sample.all);
  }
  return detail::json_line({{"now_unix_seconds", std::time(nullptr)},
                            {"every_seconds", std::chrono::duration<double>(every).count()},
                            {"unix_seconds", std::move(times)},
                            {"lanes_busy", std::move(busy)},
                            {"lanes", std::move(all)}});
}

}  // namespace dag::inspector
