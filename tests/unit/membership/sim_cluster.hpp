#pragma once
// Membership machines on a network that loses, delays, repeats and reorders, under one seed and virtual time.
// Decides the fate of messages and processes; tests judge the machines.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/membership/membership_machine.hpp"

namespace dag {

struct SimOptions {
  double loss = 0;
  double repeat = 0.01;
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_max = std::chrono::milliseconds(3);
  /// When a process dies its peers see their links break, as TCP on a living host tells them.
  bool links_break = true;
  /// How late a machine is driven at most, as on a busy host.
  Duration tick_late_max = std::chrono::milliseconds(5);
  MembershipOptions membership = {};
};

class SimCluster {
 public:
  struct Down {
    Instant at;
    std::uint32_t observer;
    Life life;
    DownWhy why;
  };

  SimCluster(std::uint32_t processes, SimOptions options, std::uint64_t seed)
      : options_(std::move(options)), random_(seed), nodes_(processes) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  Instant now() const { return now_; }
  Random& random() { return random_; }
  const MembershipMachine& machine(std::uint32_t node) const { return *nodes_.at(node).machine; }
  const std::vector<Down>& downs() const { return downs_; }
  std::uint64_t messages() const { return messages_; }

  void start(std::uint32_t node, std::uint32_t incarnation = 1) {
    Node& it = nodes_.at(node);
    it.life = Life{ProcessId{node}, {incarnation}};
    it.paused_until = now_;
    it.inbox.clear();
    MembershipOptions options = options_.membership;
    if (options.seeds.empty()) options.seeds = {address(0)};
    it.machine = std::make_unique<MembershipMachine>(it.life, Endpoint{address(node), "bulk"}, options,
                                                     Random(random_.next()), now_);
    wake(node);
  }
  void start_all() {
    for (std::uint32_t node = 0; node < size(); ++node) start(node);
  }
  bool is_running(std::uint32_t node) const { return nodes_.at(node).machine != nullptr; }

  /// kill -9.
  void kill(std::uint32_t node) {
    const Life life = nodes_.at(node).life;
    nodes_.at(node).machine.reset();
    if (!options_.links_break) return;
    for (std::uint32_t peer = 0; peer < size(); ++peer) {
      if (peer == node) continue;
      at(delay(std::chrono::microseconds(500), std::chrono::milliseconds(7)), [this, peer, life] {
        drive(peer, [this, life](auto& machine) { return machine.on_disconnected(life, now_); });
      });
    }
  }
  /// SIGSTOP, then SIGCONT: arrivals wait meanwhile.
  void pause(std::uint32_t node, Duration span) {
    nodes_.at(node).paused_until = now_ + span;
    at(span, [this, node] { resume(node); });
  }
  void cut(std::uint32_t a, std::uint32_t b, bool is_cut) { cut_[std::minmax(a, b)] = is_cut; }

  void run(Duration span) {
    const Instant end = now_ + span;
    while (!queue_.empty() && queue_.begin()->first <= end) {
      auto first = queue_.extract(queue_.begin());
      now_ = first.key();
      first.mapped()();
    }
    now_ = end;
  }
  /// Runs until the condition holds; false when it does not within `limit`.
  template <class Condition>
  bool run_until(Duration limit, Condition condition) {
    const Instant end = now_ + limit;
    while (!condition()) {
      if (queue_.empty() || queue_.begin()->first > end) return false;
      auto first = queue_.extract(queue_.begin());
      now_ = first.key();
      first.mapped()();
    }
    return true;
  }
  /// All running processes see all running ones up, in the life they have, and nobody else.
  bool agrees() const {
    for (const Node& node : nodes_) {
      if (!node.machine) continue;
      std::size_t expected = 0;
      for (const Node& other : nodes_) {
        if (!other.machine || &other == &node) continue;
        ++expected;
        const auto found = node.machine->members().find(other.life.process);
        if (found == node.machine->members().end() || found->second.claim.life != other.life ||
            found->second.claim.state != MemberState::alive) {
          return false;
        }
      }
      if (node.machine->up_count() != expected) return false;
    }
    return true;
  }
  Life life(std::uint32_t node) const { return nodes_.at(node).life; }

 private:
  struct Node {
    std::unique_ptr<MembershipMachine> machine;
    Life life;
    Instant paused_until;
    std::vector<std::function<void()>> inbox = {};  // While it is paused.
    Instant waking = {};
  };

  static std::string address(std::uint32_t node) { return "sim:" + std::to_string(node); }
  static std::uint32_t node_at(const std::string& address) {
    return static_cast<std::uint32_t>(std::stoul(address.substr(4)));
  }
  Duration delay(Duration least, Duration most) {
    return least + Duration(random_.below(static_cast<std::uint64_t>((most - least).count()) + 1));
  }
  void at(Duration later, std::function<void()> what) { queue_.emplace(now_ + later, std::move(what)); }

  template <class Event>
  void drive(std::uint32_t node, Event event) {
    Node& it = nodes_[node];
    if (!it.machine) return;
    if (now_ < it.paused_until) {
      it.inbox.push_back([this, node, event] { drive(node, event); });
      return;
    }
    const MembershipEffects effects = event(*it.machine);
    for (const auto& effect : effects) perform(node, effect);
    if (it.machine && it.machine->is_over()) {
      it.machine.reset();
      return;
    }
    wake(node);
  }
  void resume(std::uint32_t node) {
    std::vector<std::function<void()>> inbox;
    inbox.swap(nodes_[node].inbox);
    for (const auto& event : inbox) event();
  }
  void wake(std::uint32_t node) {
    Node& it = nodes_[node];
    const Instant wake_at = it.machine->wake_at();
    if (it.waking == wake_at && wake_at > now_) return;
    it.waking = wake_at;
    const Duration late = delay(Duration{0}, options_.tick_late_max);
    at(std::max(wake_at - now_, Duration{0}) + late, [this, node, wake_at] {
      if (nodes_[node].waking != wake_at) return;  // Another wake took its place.
      nodes_[node].waking = {};
      drive(node, [this](auto& machine) { return machine.on_tick(now_); });
    });
  }

  void perform(std::uint32_t node, const MembershipEffect& effect) {
    if (const auto* send = std::get_if<SendMembership>(&effect)) {
      deliver(node, *send);
      if (random_.chance(options_.repeat)) deliver(node, *send);
    } else if (const auto* down = std::get_if<MemberDown>(&effect)) {
      downs_.push_back({now_, node, down->life, down->why});
    } else if (const auto* back = std::get_if<ComeBackAs>(&effect)) {
      const std::uint32_t incarnation = back->incarnation.value;
      at(std::chrono::milliseconds(20), [this, node, incarnation] {
        if (!nodes_[node].machine) start(node, incarnation);
      });
    }
  }
  void deliver(std::uint32_t from_node, const SendMembership& send) {
    ++messages_;
    const std::uint32_t to = node_at(send.address);
    if (random_.chance(options_.loss) || cut_[std::minmax(from_node, to)]) return;
    const Life from = nodes_[from_node].life;
    at(delay(options_.delay_min, options_.delay_max), [this, to, from, send] {
      if (!nodes_[to].machine) {
        // Nobody listens: the sender's transport sees a refused connection, if it wanted a certain life.
        if (options_.links_break && send.to) {
          const std::uint32_t back = from.process.value;
          drive(back, [this, send](auto& machine) { return machine.on_refused(*send.to, now_); });
        }
        return;
      }
      if (send.to && *send.to != nodes_[to].life) return;  // The envelope names another incarnation.
      drive(to, [this, from, send](auto& machine) { return machine.on_message(from, send.message, now_); });
    });
  }

  SimOptions options_;
  Random random_;
  std::vector<Node> nodes_;
  std::multimap<Instant, std::function<void()>> queue_;  // Equal instants keep the order of insertion.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> cut_;
  std::vector<Down> downs_;
  std::uint64_t messages_ = 0;
  Instant now_{std::chrono::seconds(1)};
};

}  // namespace dag
