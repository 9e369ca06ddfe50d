#pragma once
// Bytes under way between simulated processes. Between two lives everything arrives once and in order, on
// each of two channels: large messages may be overtaken by small ones. A cut holds bytes back until it heals;
// bytes that a process sent before it died may arrive after its death, or not.

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "dag/blob.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/random.hpp"
#include "libdag/host/host.hpp"
#include "tools/sim/events.hpp"

namespace dag::sim {

/// The other end of the network.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void arrived(Life from, const std::string& address, const Blob& frame) = 0;
  /// The connection broke; nobody listens where it led to.
  virtual void disconnected(Life life) = 0;
  virtual void refused(Life life) = 0;
  /// A peer owes an answer and is silent; or is heard again.
  virtual void heard(Life life, bool heard) = 0;
};

struct NetworkOptions {
  Duration latency = std::chrono::microseconds(100);
  double late = 0;  ///< share of messages that take up to late_max, and all behind them
  Duration late_max = std::chrono::milliseconds(300);
  /// The link answers arrivals; a sender without an answer for so long is told that its peer is silent.
  Duration silent_after = std::chrono::seconds(2);
  /// Larger ones go by the channel for bulk.
  std::size_t control_bytes_max = 2048;
};

class Network {
 public:
  Network(Events& events, NetworkOptions options, std::uint64_t seed)
      : events_(events), options_(options), random_(seed * 23 + 11) {}

  void join(Life life, std::string address, Listener& listener);
  /// The process has ended.
  void leave(Life life);
  std::optional<Life> who_listens(const std::string& address) const;
  std::string address_of(Life life) const;

  void send(Life from, Life to, Blob frame);
  /// Neither in order nor surely.
  void send_loose(Life from, Life to, Blob frame);
  /// Nothing gets from one node's host to the other's, until mend().
  void cut(ProcessId from, ProcessId to) { cut_.insert({from, to}); }
  void mend();
  /// The process neither sends nor hears anything.
  void pause(Life life) { paused_.insert(life); }
  void resume(Life life);
  /// The connections between these two break, and stand again a moment later.
  /// `forgets`: bytes under way are lost, as they must not be.
  void flap(Life one, Life other, bool forgets);

 private:
  enum Channel : std::uint8_t { control, bulk };
  struct Flow {
    struct OnItsWay {
      Instant due;
      std::string address;  ///< of the sender
      Blob frame;
    };
    std::deque<OnItsWay> frames;
    Instant last_due;
  };
  using Way = std::tuple<Life, Life, Channel>;

  struct Present {
    std::string address;
    Listener* listener = nullptr;
    std::set<Life> connected;  ///< lives that it has sent to
  };
  Present* find(Life life);
  bool held_back(Life from, Life to) const {
    return cut_.contains({node_of(from.process), node_of(to.process)}) || paused_.contains(to) ||
           paused_.contains(from);
  }
  Duration travel();
  void deliver(const Way& way);
  void deliver_all();
  void tell_broken(Life to, Life gone);
  void expect_answer(Life from, Life to);
  void answered(Life from, Life to);
  bool both_there(Life one, Life other) const { return present_.contains(one) && present_.contains(other); }

  Events& events_;
  NetworkOptions options_;
  Random random_;
  std::map<Life, Present> present_;
  std::map<std::string, Life> listening_;
  std::map<Way, Flow> flows_;
  std::set<std::pair<ProcessId, ProcessId>> cut_;
  /// Senders that expect an answer, since when; and peers that a process was told to be silent.
  std::map<std::pair<Life, Life>, Instant> expected_;
  std::set<std::pair<Life, Life>> silent_;
  std::set<Life> paused_;
  std::set<std::pair<Life, Life>> not_told_;  ///< the first is to be told of the end of the second
};

}  // namespace dag::sim
