#include "tools/sim/actors/network.hpp"

#include <utility>

namespace dag::sim {

void Network::join(Life life, std::string address, Listener& listener) {
  listening_[address] = life;
  present_[life] = {std::move(address), &listener, {}};
}

void Network::leave(Life life) {
  const auto gone = present_.extract(life);
  if (!gone) return;
  paused_.erase(life);
  if (who_listens(gone.mapped().address) == life) listening_.erase(gone.mapped().address);
  for (auto& [way, flow] : flows_) {
    const auto& [from, to, channel] = way;
    if (to == life || (from == life && random_.chance(0.5))) flow.frames.clear();
  }
  for (auto& [other, there] : present_) {
    if (!there.connected.contains(life)) continue;
    not_told_.insert({other, life});
    tell_broken(other, life);
  }
}

std::optional<Life> Network::who_listens(const std::string& address) const {
  const auto found = listening_.find(address);
  return found == listening_.end() ? std::nullopt : std::optional(found->second);
}

std::string Network::address_of(Life life) const {
  const auto found = present_.find(life);
  return found == present_.end() ? std::string() : found->second.address;
}

Network::Present* Network::find(Life life) {
  const auto found = present_.find(life);
  return found == present_.end() ? nullptr : &found->second;
}

/// Neither side is told of an end that it cannot know yet.
void Network::tell_broken(Life to, Life gone) {
  events_.after(std::chrono::microseconds(random_.below(8000)), [this, to, gone] {
    if (held_back(gone, to) || not_told_.erase({to, gone}) == 0) return;
    if (Present* there = find(to)) there->listener->disconnected(gone);
    events_.after(std::chrono::microseconds(random_.below(2000)), [this, to, gone] {
      if (Present* there = find(to)) there->listener->refused(gone);
    });
  });
}

void Network::flap(Life one, Life other, bool forgets) {
  for (const auto& [to, from] : {std::pair(one, other), std::pair(other, one)}) {
    Present* there = find(to);
    if (there != nullptr && there->connected.contains(from)) there->listener->disconnected(from);
    for (const Channel channel : {control, bulk}) {
      Flow& flow = flows_[{from, to, channel}];
      flow.last_due = std::max(flow.last_due, events_.now() + std::chrono::milliseconds(10));
      if (forgets) flow.frames.clear();
    }
  }
}

Duration Network::travel() {
  Duration pause =
      options_.latency / 2 +
      Duration(static_cast<Duration::rep>(random_.unit() * static_cast<double>(options_.latency.count())));
  if (random_.chance(options_.late)) {
    pause +=
        Duration(static_cast<Duration::rep>(random_.unit() * static_cast<double>(options_.late_max.count())));
  }
  return pause;
}

void Network::send(Life from, Life to, Blob frame) {
  Present* sender = find(from);
  if (sender == nullptr || !present_.contains(to)) return;
  sender->connected.insert(to);
  const Way way{from, to, frame.size_bytes() > options_.control_bytes_max ? bulk : control};
  Flow& flow = flows_[way];
  flow.last_due = std::max(flow.last_due, events_.now() + travel());
  flow.frames.push_back({flow.last_due, sender->address, std::move(frame)});
  expect_answer(from, to);
  events_.at(flow.last_due, [this, way] { deliver(way); });
}

void Network::send_loose(Life from, Life to, Blob frame) {
  Present* sender = find(from);
  if (sender == nullptr || held_back(from, to)) return;
  sender->connected.insert(to);
  events_.after(travel(), [this, from, to, address = sender->address, frame = std::move(frame)] {
    if (held_back(from, to)) return;
    if (Present* there = find(to)) there->listener->arrived(from, address, frame);
  });
}

void Network::deliver(const Way& way) {
  const auto& [from, to, channel] = way;
  Flow& flow = flows_[way];
  while (!flow.frames.empty() && flow.frames.front().due <= events_.now() && !held_back(from, to)) {
    const Flow::OnItsWay next = std::move(flow.frames.front());
    flow.frames.pop_front();
    if (Present* there = find(to)) there->listener->arrived(from, next.address, next.frame);
    answered(to, from);
    if (flow.frames.empty() && !held_back(to, from)) answered(from, to);
  }
}

void Network::expect_answer(Life from, Life to) {
  const Instant now = events_.now();
  if (!expected_.try_emplace({from, to}, now).second) return;
  events_.after(options_.silent_after, [this, from, to, now] {
    const auto still = expected_.find({from, to});
    if (still == expected_.end() || still->second != now || !both_there(from, to)) return;
    // A process that is stopped itself looks again when it goes on.
    expected_.erase(still);
    if (paused_.contains(from)) return;
    if (silent_.insert({from, to}).second) find(from)->listener->heard(to, false);
  });
}

void Network::answered(Life from, Life to) {
  expected_.erase({from, to});
  if (silent_.erase({from, to}) == 0) return;
  if (Present* there = find(from)) there->listener->heard(to, true);
}

void Network::deliver_all() {
  for (const auto& [way, flow] : flows_) {
    if (!flow.frames.empty()) events_.after(Duration{0}, [this, way = way] { deliver(way); });
  }
  for (const auto& [to, gone] : not_told_) tell_broken(to, gone);
}

void Network::mend() {
  cut_.clear();
  deliver_all();
}

void Network::resume(Life life) {
  if (paused_.erase(life) != 0) deliver_all();
}

}  // namespace dag::sim
