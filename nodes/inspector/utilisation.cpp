#include "nodes/inspector/utilisation.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"

namespace dag::inspector {

double Utilisation::lanes_busy(Life node, const detail::NodeLanes& lanes, Instant now) const {
  const auto before = said_.find(node);
  // Only the present load is known of a node that is new here.
  if (before == said_.end() || now <= before->second.at) return static_cast<double>(lanes.running);
  const std::chrono::duration<double> spent = lanes.busy - before->second.busy,
                                      passed = now - before->second.at;
  // The nodes' numbers are some heartbeats old, so a share may seem larger than the whole.
  return std::clamp(spent / passed, 0.0, static_cast<double>(lanes.there));
}

void Utilisation::add(std::int64_t unix_seconds, Instant now, const std::vector<NodeInfo>& nodes) {
  const std::lock_guard lock(mutex_);
  Sample sample{unix_seconds, 0, 0};
  std::map<Life, Said> said;
  for (const NodeInfo& node : nodes) {
    if (node.state != MemberState::alive) continue;  // A lost node's claims are out of date.
    const detail::NodeLanes lanes = detail::lanes_of(node);
    sample.all += lanes.there;
    sample.busy += lanes_busy(node.life, lanes, now);
    said[node.life] = {now, lanes.busy};
  }
  said_ = std::move(said);
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
