#include "nodes/keeper/member_story.hpp"

#include <algorithm>

#include "libdag/base/bytes.hpp"
#include "nodes/machine/clock.hpp"

namespace dag {
namespace {

std::string words_of(const DeviceLoad& device) {
  return std::to_string(device.lanes) + " " + device.kind + (device.lanes == 1 ? " lane" : " lanes") +
         (device.memory_bytes == 0 ? "" : ", " + bytes_text(device.memory_bytes));
}

/// Asked of every node with every heartbeat: whether words_of would be the same.
bool has_the_same(const LoadSummary& a, const LoadSummary& b) {
  const auto alike = [](const DeviceLoad& one, const DeviceLoad& other) {
    return one.lanes == other.lanes && one.memory_bytes == other.memory_bytes && one.kind == other.kind;
  };
  return a.disk_full == b.disk_full && a.disk_stuck == b.disk_stuck && a.sick == b.sick &&
         a.draining == b.draining && a.witness == b.witness &&
         std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(), alike);
}

}  // namespace

std::string words_of(const LoadSummary& load) {
  std::string text;
  for (const DeviceLoad& device : load.devices) text += (text.empty() ? "" : ", ") + words_of(device);
  if (load.devices.empty()) text = load.witness ? "runs nothing: it is a witness" : "nothing to run tasks on";
  if (load.disk_full) text += "; its disk is full";
  if (load.disk_stuck) text += "; its disk is stuck";
  if (load.sick) text += "; it is sick: it reacts late";
  if (load.draining) text += "; it is draining";
  return text;
}

MemberStory::MemberStory(ProcessId self, EventSink* records, spdlog::logger& logger)
    : self_(self), records_(records), logger_(logger) {}

void MemberStory::started(Life self, const Endpoint& endpoint) {
  say(self, event::MemberChange::up, "it has started, at " + endpoint.control);
}

void MemberStory::up(const MemberUp& member) {
  logger_.info("{} has joined, at {}", to_string(member.life.process), member.endpoint.control);
  say(member.life, event::MemberChange::up, "at " + member.endpoint.control);
}

void MemberStory::doubted(Life life, bool suspected) {
  constexpr const char* why = "it is silent";
  suspected ? logger_.info("{} is suspected: {}", to_string(life.process), why)
            : logger_.info("{} is heard again", to_string(life.process));
  suspected ? say(life, event::MemberChange::suspected, why) : say(life, event::MemberChange::trusted, "");
}

void MemberStory::down(const MemberDown& member) {
  logger_.log(member.why == DownWhy::left ? spdlog::level::info : spdlog::level::warn, "{} is gone: {}",
              to_string(member.life.process), name(member.why));
  say(member.life, event::MemberChange::down, std::string(name(member.why)));
  has_.erase(member.life.process);
}

void MemberStory::seen(const std::vector<Claim>& members) {
  if (records_ == nullptr) return;
  for (const Claim& member : members) {
    const auto [before, is_new] = has_.try_emplace(member.life.process, member.load);
    if (!is_new && has_the_same(before->second, member.load)) continue;
    before->second = member.load;
    say(member.life, event::MemberChange::has, words_of(member.load));
  }
}

/// Records events of nodes that no job is told of.
void MemberStory::say(Life life, event::MemberChange change, std::string why) {
  if (records_ == nullptr) return;
  records_->record(
      {steady_now(), {self_, std::nullopt}, {}, {}, {}, event::Member{life, change, std::move(why)}});
}

}  // namespace dag
