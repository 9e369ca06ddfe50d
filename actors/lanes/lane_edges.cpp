// A lane's handling of ends that concern other shards: it collects its news, writes them in batches, reads
// news of others, and hands to homes the news that are not for lanes.
//
// When a lane writes. A batch goes at the first border between two rows at which the last batch is some
// microseconds old: so the first news on a quiet ring goes at once, and many that follow each other go
// together. A batch also goes before a kernel that may be longer than that, and when there is nothing to run.

#include <algorithm>

#include "actors/lanes/edge_record.hpp"
#include "actors/lanes/lane.hpp"
#include "libdag/base/limits.hpp"

namespace dag {
namespace {

/// Records that are read before the lane looks at its own rows again.
constexpr std::size_t read_at_once = 64;
/// A lane that never runs dry looks into the rings as often, or when the last look is some microseconds old.
constexpr std::uint32_t borders_between_polls = 4;

}  // namespace

/// Writes what found a ring full, and reads up to `records_max` of each: `hear(EdgeNews&, Life from)`. A
/// record that is no news breaks its ring. True: there was something.
template <class Hear>
bool Lanes::read_rings(const Edges::Known& known, std::size_t records_max, Hear&& hear) {
  bool some = false;
  for (const auto& peer : known.peers) {
    if (peer->held_up.load(std::memory_order_relaxed)) edges_.write_left_over(*peer);
    ring::RingCarrier& carrier = *peer->ring.carrier;
    some |= carrier.poll(records_max, [&](const ring::Record& record) {
      auto read = news_in(record);
      if (!read) return carrier.break_off();
      if (!read->over || read_in_place(*read, peer->ring.peer)) hear(read->news, peer->ring.peer);
    }) == ring::Polled::some;
  }
  return some;
}

/// False: the output cannot be read in place, and the home that waits for it gets the news without it.
bool Lanes::read_in_place(ReadNews& read, Life owner) {
  const ring::HandOver& over = *read.over;
  if (const std::function<void()> returned = events_->returned(owner, over.number)) {
    if (Result<Blob> bytes = edges_.outputs().open(owner, over.where, returned)) {
      read.news.value = *std::move(bytes);
      return true;
    }
    returned();
  }
  events_->edge_news(owner, as_message_without(std::move(read.news), over.where.size_bytes, owner));
  return false;
}

void Lanes::add_ring(Life peer, std::shared_ptr<ring::RingCarrier> carrier) {
  DAG_CHECK(options_.doorbell);  // The peer rings it.
  edges_.add_ring({peer, std::move(carrier)});
  ring_came();
}
void Lanes::remove_ring(Life peer) {
  edges_.remove_ring(peer);
  ring_went();
}
void Lanes::add_shard(LaneShard& shard) { edges_.add_shard(shard); }

std::vector<Life> Lanes::reach() const {
  const std::shared_ptr<const Edges::Known> known = edges_.known();
  std::vector<Life> lives;
  for (const auto& peer : known->peers) lives.push_back(peer->ring.peer);
  return lives;
}

/// Not inside a gate: it takes a lock. What was collected for a ring that is gone goes nowhere; the homes
/// concerned are told of the ring, and tell again.
void Lanes::look_at_rings(Lane& lane) {
  if (lane.known->version == edges_.version()) return;
  write_edges(lane);
  lane.known = edges_.known();
  lane.batches.clear();
  lane.batches.resize(lane.known->peers.size());
}

/// Inside the gate of `from`, whose row ended.
bool Lanes::tell_edge(Lane& lane, const LaneShard& from, const Route& route, EdgeNews&& news) {
  if (route.home == from.table.routes().self) {
    lane.told_here.push_back(std::move(news));
    return true;
  }
  if (route.way == Way::link) {
    if (news.value.size_bytes() > limits::inline_output_bytes_max) return false;
    tell_by_link(lane, route.home, std::move(news));
    return true;
  }
  const auto& peers = lane.known->peers;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i]->ring.peer != route.home) continue;
    if (peers[i]->held_up.load(std::memory_order_acquire) || peers[i]->ring.carrier->broken()) return false;
    if (lane.batches[i].size() >= limits::flush_operations) return false;  // A row with very many shards.
    if (!Edges::can_write(*peers[i], news.value)) return false;
    lane.unwritten_bytes += Edges::bytes_of(news.value);
    ++lane.unwritten;
    lane.batches[i].push_back(std::move(news));
    return true;
  }
  return false;
}

void Lanes::tell_by_link(Lane& lane, Life to, EdgeNews&& news) {
  lane.unwritten_bytes += Edges::bytes_of(news.value);
  ++lane.unwritten;
  auto batch = std::find_if(lane.by_link.begin(), lane.by_link.end(),
                            [&](const Lane::LinkBatch& one) { return one.to == to; });
  if (batch == lane.by_link.end()) batch = lane.by_link.insert(batch, {to, {}});
  batch->news.push_back(std::move(news));
}

void Lanes::write_edges(Lane& lane) {
  if (lane.unwritten == 0) return;
  for (Lane::LinkBatch& batch : lane.by_link) events_->send_edges(batch.to, std::move(batch.news));
  lane.by_link.clear();
  for (std::size_t i = 0; i < lane.batches.size(); ++i) {
    if (!lane.batches[i].empty()) edges_.write(*lane.known->peers[i], lane.batches[i]);
  }
  lane.unwritten = 0;
  lane.unwritten_bytes = 0;
}

/// Between two rows, outside of any gate.
void Lanes::edges_at_border(Lane& lane, std::int64_t now) {
  look_at_rings(lane);
  if (!lane.told_here.empty()) {
    // Nothing is added meanwhile: hearing an end here ends ghosts, which tell nobody.
    for (EdgeNews& news : lane.told_here) hear_edge(lane, news, std::nullopt);
    lane.told_here.clear();
  }
  if (lane.unwritten > 0 &&
      (now - lane.written_at > edge_ticks_ || lane.unwritten >= limits::flush_operations ||
       lane.unwritten_bytes >= limits::flush_bytes)) {
    write_edges(lane);
    lane.written_at = now;
  }
  if (lane.known->peers.empty()) return;
  if (now - lane.looked_at <= edge_ticks_ && ++lane.borders % borders_between_polls != 0) return;
  lane.looked_at = now;
  read_edges(lane);
}

/// Rows that it makes ready are in the lane's deque.
bool Lanes::read_edges(Lane& lane) {
  look_at_rings(lane);
  if (!edge_news(lane)) return false;
  const std::shared_ptr<const Edges::Known> known = lane.known;  // Reading may look at the rings again.
  return read_rings(*known, read_at_once, [&](EdgeNews& news, Life from) { hear_edge(lane, news, from); });
}

bool Lanes::edge_news(const Lane& lane) const {
  for (const auto& peer : lane.known->peers) {
    if (peer->ring.carrier->has_news() || peer->held_up.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

/// Without those whose peer does not read: a lane that waits for one of these may sleep, and is rung.
bool Lanes::ring_news(const Edges::Known& known) {
  return std::any_of(known.peers.begin(), known.peers.end(),
                     [](const auto& peer) { return peer->ring.carrier->has_news(); });
}

/// `from`: the process that sent the news; none: this one.
void Lanes::hear_edge(Lane& lane, EdgeNews& news, std::optional<Life> from) {
  for (;;) {
    LaneShard* shard = lane.known->find(news.job, news.shard);
    if (shard == nullptr) break;
    lane.enters(shard);
    if (lane.known->version != edges_.version()) {  // The peer may be gone.
      look_at_rings(lane);
      continue;
    }
    if (shard->retired.load(std::memory_order_seq_cst) || !shard->gate.enter(lane.index)) break;
    LaneReport& report = report_to(lane, *shard);
    RowIndex ghost = no_row;
    // The ear has no queue of its own, and the inbox takes a lock: so it gets the rows outside the gate.
    std::vector<RowIndex> ready_rows;
    const Arrival arrival = end_ghost(
        shard->table, news, ghost,
        [&](RowIndex ready) {
          if (&lane == ear_.get()) {
            ready_rows.push_back(ready);
          } else {
            lane.rows.push({shard, ready});
          }
        },
        [&](RowIndex held) { report.decide.push_back(held); });
    if (arrival == Arrival::ended) {
      report.ghosts.push_back(ghost);
      lane.pressing = lane.pressing || !report.decide.empty() || shard->table[ghost].home_waits;
    }
    shard->gate.leave(lane.index);
    for (const RowIndex ready : ready_rows) make_ready(*shard, ready);
    if (arrival == Arrival::ended) return;
    if (arrival == Arrival::for_home) break;
    if (!from) throw Bug("a lane told another shard here what no lane can mean");
    for (const auto& peer : lane.known->peers) {
      if (peer->ring.peer == *from) peer->ring.carrier->break_off();
    }
    return;
  }
  events_->edge_news(from, as_message(std::move(news)));
}

void Lanes::hear(Life from, std::vector<EdgeNews>&& news) {
  Lane& ear = *ear_;
  look_at_rings(ear);
  for (EdgeNews& one : news) hear_edge(ear, one, from);
  send_reports(ear);
  ear.reports.clear();
  ear.enters(nullptr);
  if (retired_count_.load(std::memory_order_relaxed) > 0) let_go_of_retired();
}

bool Lanes::poll_rings() {
  return read_rings(*edges_.known(), limits::flush_operations, [&](EdgeNews& news, Life from) {
    events_->edge_news(from, as_message(std::move(news)));
  });
}

}  // namespace dag
