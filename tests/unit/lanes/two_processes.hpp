#pragma once
// Two processes in one: each has lanes, and the home of a shard on a thread of its own, as an actor
// would be; between them a pair of rings, and a queue in place of messages. News that lanes send by
// link is heard on the same thread. There is no cell, so nothing is ever settled, and no process
// dies.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "actors/lanes/lanes.hpp"
#include "dag/graph.hpp"
#include "libdag/home/home.hpp"
#include "tests/support/patience.hpp"

namespace dag::test {

struct TwoProcessesOptions {
  std::size_t lanes = 1;
  Duration spin = std::chrono::microseconds(200);
  std::uint64_t ring_bytes = ring::inbox_capacity_bytes;
  bool rings = true;
  bool reads_in_place = true;
  /// Lanes tell each other by messages, too, where there are no rings.
  bool links = false;
};

class TwoProcesses {
 public:
  TwoProcesses(const Graph& graph, std::vector<ShardIndex> shard_of, TwoProcessesOptions options = {}) {
    auto plan = std::make_shared<JobPlan>();
    plan->job = JobId{7};
    plan->graph = std::make_shared<const detail::Fragment>(graph.builder().sealed());
    plan->shard_of = std::move(shard_of);
    plan->shards = 2;
    message::JobState state;
    state.job = plan->job;
    state.version = 1;
    for (std::uint32_t i = 0; i < 2; ++i) {
      state.lives.push_back(life(i));
      state.homes.push_back({life(i), {1, 1}});
    }
    state.cell = {ProcessId{9}, Incarnation{1}};
    std::optional<ring::RingMemory> inboxes[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
      sides_[i] = std::make_unique<Side>(*this, i, plan, options);
      hand_backs_->owners[i] = &sides_[i]->lanes;
      inboxes[i] = ring::RingMemory::create(i + 11, options.ring_bytes).value_or_throw();
    }
    if (options.rings) {
      ring::Offer offers[2];
      for (std::uint32_t i = 0; i < 2; ++i) {
        offers[i] = ring::offer(*inboxes[i], *sides_[i]->bell).value_or_throw();
      }
      std::optional<ring::Outbound> outbound[2];
      for (std::uint32_t i = 0; i < 2; ++i) outbound[i] = ring::accept(offers[1 - i]).value_or_throw();
      for (std::uint32_t i = 0; i < 2; ++i) {
        sides_[i]->carrier =
            std::make_shared<ring::RingCarrier>(std::move(*inboxes[i]), std::move(*outbound[i]));
        sides_[i]->lanes.add_ring(life(1 - i), sides_[i]->carrier);
      }
    }
    // News that came before a home would wait at its door (door.hpp); here nothing comes before.
    for (auto& side : sides_) side->begin(state);
    for (auto& side : sides_) side->start();
  }
  ~TwoProcesses() {
    for (auto& side : sides_) side->stop();
    const std::lock_guard lock(hand_backs_->mutex);
    for (Lanes*& owner : hand_backs_->owners) owner = nullptr;
  }

  static Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{1}}; }

  /// Waits until all rows of both shards have ended, and their homes know.
  void wait() {
    for (auto& side : sides_) {
      if (!side->wait([&] { return side->ended == side->rows; }))
        throw std::runtime_error("it does not end:" + stuck());
    }
  }
  bool wait_for(std::uint32_t shard, std::uint64_t ended) {
    return sides_[shard]->wait([&] { return sides_[shard]->ended >= ended; });
  }
  /// For people, when nothing happens any more.
  std::string stuck() const {
    std::string text;
    for (const auto& side : sides_) {
      text += "\n shard " + std::to_string(side->index) + ": " + std::to_string(side->ended) + " of " +
              std::to_string(side->rows) + " ended, " + std::to_string(side->lanes.queued()) + " queued";
      const RowTable& table = side->shard->table;
      if (side->carrier) {
        text += side->carrier->broken() ? ", ring broken" : side->carrier->has_news() ? ", ring unread" : "";
      }
      const Side& other = *sides_[1 - side->index];
      const RowTable& there = other.shard->table;
      for (RowIndex row = 0; row < table.size(); ++row) {
        const RowState state = table.word(row).state;
        if (state == RowState::ended) continue;
        if (text.size() > 2000) break;
        if (table[row].ghost) {
          const RowIndex original = there.find(table.id(row));
          if (there.word(original).state != RowState::ended) continue;
          text += "\n  not heard of: " + to_string(table.id(row)) + " which " +
                  other.home->explain(table.id(row)) + (there[original].told ? ", told by a lane" : "");
        } else if (state != RowState::waiting) {
          text += "\n  " + to_string(table.id(row)) + " " + side->home->explain(table.id(row));
        }
      }
    }
    return text;
  }
  Blob output(std::uint32_t task, std::uint32_t shard) {
    RowTable& table = sides_[shard]->shard->table;
    return table[table.find({0, task})].output.load();
  }
  /// News of ends: over rings to lanes, and as messages to homes.
  std::uint64_t by_lanes() { return sides_[0]->ghosts + sides_[1]->ghosts; }
  std::uint64_t by_messages() { return sides_[0]->messages + sides_[1]->messages; }
  std::uint64_t by_link() { return sides_[0]->told_by_link + sides_[1]->told_by_link; }
  std::uint64_t handed_back() const {
    const std::lock_guard lock(hand_backs_->mutex);
    return hand_backs_->count;
  }
  /// As a home does that needs it no more.
  void drop(std::uint32_t task, std::uint32_t shard) {
    RowTable& table = sides_[shard]->shard->table;
    table[table.find({0, task})].output.clear();
  }
  ring::RingCarrier& carrier(std::uint32_t process) { return *sides_[process]->carrier; }
  void stop_lanes(std::uint32_t process) { sides_[process]->lanes.stop(); }
  void give_up_ring(std::uint32_t process) { sides_[process]->lanes.remove_ring(life(1 - process)); }

 private:
  /// Hand-backs that would go over the link; also for Blobs that outlive the lanes.
  struct HandBacks {
    void from(std::uint32_t reader, std::uint64_t number) {
      const std::lock_guard lock(mutex);
      ++count;
      if (owners[1 - reader] != nullptr) owners[1 - reader]->take_back(life(reader), number);
    }
    std::mutex mutex;
    std::uint64_t count = 0;
    Lanes* owners[2] = {};
  };

  struct Side {
    Side(TwoProcesses& both, std::uint32_t number, const std::shared_ptr<const JobPlan>& the_plan,
         const TwoProcessesOptions& options)
        : of(both),
          index(number),
          plan(the_plan),
          reads_in_place(options.reads_in_place),
          links(options.links),
          lanes({.cores = std::vector<int>(options.lanes, -1), .spin = options.spin, .doorbell = bell},
                std::make_unique<Events>(*this)),
          shard(std::make_shared<LaneShard>(Representation::as_needed, options.lanes)) {
      HomeOptions home_options;
      home_options.shard = index;
      home_options.epoch = {1, 1};
      home_options.self = life(index);
      home_options.several_processes = true;
      home = std::make_unique<Home>(home_options, plan, shard->table, shard->gate, records);
      shard->job = plan->job;
      shard->epoch = {1, 1};
      shard->report = [this](LaneReport&& report) {
        ghosts += report.ghosts.size();
        post([this, report = std::make_shared<LaneReport>(std::move(report))] {
          home->on_lanes(std::move(*report), {});
        });
      };
      shard->reach_changed = [this] { post([this] { look_at_reach(); }); };
    }
    class Events final : public LaneEvents {
     public:
      explicit Events(Side& side) : side_(side) {}
      bool tells_by_link() const override { return side_.links; }
      void send_edges(Life /*to*/, std::vector<EdgeNews>&& news) override {
        side_.told_by_link += news.size();
        Side& other = *side_.of.sides_[1 - side_.index];
        other.post([&other, from = life(side_.index),
                    news = std::make_shared<std::vector<EdgeNews>>(std::move(news))] {
          other.lanes.hear(from, std::move(*news));
        });
      }
      std::function<void()> returned(Life /*owner*/, std::uint64_t number) override {
        if (!side_.reads_in_place) return nullptr;
        return [to = side_.of.hand_backs_, reader = side_.index, number] { to->from(reader, number); };
      }
      void edge_news(std::optional<Life> from, message::PredecessorEnded&& news) override {
        side_.hear(from.value_or(life(side_.index)), std::move(news));
      }

     private:
      Side& side_;
    };
    void begin(const message::JobState& state) {
      post([this, state] {
        home->begin(state, {});
        {
          const std::lock_guard lock(mutex);
          rows = home->counts().rows;
        }
        lanes.add_shard(*shard);
        look_at_reach();
      });
    }
    void start() {
      thread = std::jthread([this](const std::stop_token& stopped) { serve(stopped); });
    }
    void stop() {
      thread = {};
      lanes.retire(std::move(shard));
    }
    void look_at_reach() { home->on_reach(lanes.reach(), {}, lanes.tells_by_link()); }
    void hear(Life from, message::PredecessorEnded&& news) {
      ++messages;
      post([this, from, news = std::make_shared<JobMessage>(std::move(news))] {
        home->on_message(from, *news, {});
      });
    }
    void post(std::function<void()> what) {
      {
        const std::lock_guard lock(mutex);
        mail.push_back(std::move(what));
      }
      changed.notify_all();
    }
    void serve(const std::stop_token& stopped) {
      std::unique_lock lock(mutex);
      while (changed.wait(lock, stopped, [&] { return !mail.empty(); })) {
        const std::function<void()> what = std::move(mail.front());
        mail.pop_front();
        lock.unlock();
        what();
        act();
        lock.lock();
        if (mail.empty() && rows > 0) {
          ended = home->counts().ended;
          changed.notify_all();
        }
      }
    }
    void act() {
      for (HomeEffect& effect : home->take_effects()) {
        if (auto* ready = std::get_if<MakeReady>(&effect)) {
          lanes.make_ready(*shard, ready->row);
        } else if (auto* message = std::get_if<SendMessage>(&effect)) {
          if (auto* news = std::get_if<message::PredecessorEnded>(&message->message)) {
            of.sides_[1 - index]->hear(life(index), std::move(*news));
          }
        }
      }
    }
    bool wait(const std::function<bool()>& reached) {
      std::unique_lock lock(mutex);
      return changed.wait_for(lock, dag::test::patient(std::chrono::seconds(30)),
                              [&] { return rows > 0 && reached(); });
    }

    TwoProcesses& of;
    const std::uint32_t index;
    std::shared_ptr<const JobPlan> plan;
    const bool reads_in_place, links;
    NullEventSink records;
    std::shared_ptr<ring::Doorbell> bell =
        std::make_shared<ring::Doorbell>(ring::Doorbell::create(index + 1).value_or_throw());
    std::shared_ptr<ring::RingCarrier> carrier;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::deque<std::function<void()>> mail;
    std::uint64_t rows = 0, ended = 0;  // guarded by mutex
    std::atomic<std::uint64_t> ghosts{0}, messages{0}, told_by_link{0};
    Lanes lanes;
    std::shared_ptr<LaneShard> shard;
    std::unique_ptr<Home> home;
    std::jthread thread;
  };

  std::shared_ptr<HandBacks> hand_backs_ = std::make_shared<HandBacks>();
  std::unique_ptr<Side> sides_[2];
};

}  // namespace dag::test
