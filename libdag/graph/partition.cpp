// The greedy pass of partition.hpp, over blocks instead of tasks.

#include "libdag/graph/partition.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "libdag/base/check.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/graph/blocks.hpp"
#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"

namespace dag {
namespace {

using detail::Edge;
using detail::Fragment;

// Tried on the 45 graphs of dags/public (2, 4 and 16 shards): less lead cuts more edges, more lead lets
// shards wait for each other.
constexpr double excess = 0.1;         // above an even share
constexpr double lead = 0.25;          // of an even share, that a shard may be ahead of the others
constexpr double critical_edge = 4.0;  // an edge of the critical path counts as so many
constexpr double nearby_source = 0.5;  // what holds tasks without predecessors side by side

class Greedy {
 public:
  Greedy(const Fragment& fragment, std::uint32_t shards)
      : fragment_(fragment),
        shards_(shards),
        out_edges_(fragment),
        order_(topological_order(fragment, out_edges_)),
        block_of_(blocks(fragment)),
        load_(shards, 0.0),
        pull_(shards, 0.0) {
    collect_blocks();
    weigh();
  }

  std::vector<ShardIndex> run() {
    for (const std::uint32_t task : order_) {
      if (shard_of_block_[block_of_[task]] == detail::none) give_out(task);
    }
    std::vector<ShardIndex> shard_of(order_.size());
    for (std::size_t task = 0; task < shard_of.size(); ++task)
      shard_of[task] = static_cast<ShardIndex>(shard_of_block_[block_of_[task]]);
    return shard_of;
  }

 private:
  void collect_blocks() {
    std::uint32_t count = 0;
    for (const std::uint32_t block : block_of_) count = std::max(count, block + 1);
    shard_of_block_.assign(count, detail::none);
    first_member_.assign(count + 1, 0);
    for (const std::uint32_t block : block_of_) ++first_member_[block + 1];
    for (std::uint32_t block = 0; block < count; ++block) first_member_[block + 1] += first_member_[block];
    members_.resize(block_of_.size());
    std::vector<std::uint32_t> place(first_member_.begin(), first_member_.end() - 1);
    for (std::uint32_t task = 0; task < block_of_.size(); ++task) members_[place[block_of_[task]]++] = task;
  }

  /// Half of a task's weight is that it is one, half its duration.
  void weigh() {
    const std::vector<Duration> takes = durations(fragment_);
    double total_ns = 0;
    for (const Duration duration : takes) total_ns += static_cast<double>(duration.count());
    const double mean_ns = std::max(1.0, total_ns / std::max(1.0, static_cast<double>(takes.size())));
    weight_.reserve(takes.size());
    for (std::size_t task = 0; task < takes.size(); ++task) {
      weight_.push_back(0.5 + 0.5 * static_cast<double>(takes[task].count()) / mean_ns);
      weight_total_ += weight_.back();
      if (fragment_.edge_count(static_cast<std::uint32_t>(task)) == 0) source_weight_total_ += weight_.back();
    }
    next_on_critical_path_.assign(takes.size(), detail::none);
    const std::vector<std::uint32_t> path = rank(fragment_, out_edges_, order_, takes).critical_path;
    for (std::size_t i = 1; i < path.size(); ++i) next_on_critical_path_[path[i - 1]] = path[i];
  }

  void give_out(std::uint32_t first) {
    const std::uint32_t block = block_of_[first];
    const auto members =
        std::span(members_).subspan(first_member_[block], first_member_[block + 1] - first_member_[block]);
    std::fill(pull_.begin(), pull_.end(), 0.0);
    double weight = 0;
    for (const std::uint32_t task : members) {
      weight += weight_[task];
      for (const detail::EdgeEnd end : fragment_.in_edges(task)) {
        pull(end.task(), next_on_critical_path_[end.task()] == task);
      }
      for (const OutEdge out : out_edges_.of(task)) {
        pull(out.successor, next_on_critical_path_[task] == out.successor);
      }
      if (fragment_.edge_count(task) == 0) pull_to_chunk(task);
    }
    given_out_ += weight;
    const std::uint32_t shard = best_shard(weight, members.size() > 1);
    load_[shard] += weight;
    shard_of_block_[block] = shard;
  }

  void pull(std::uint32_t neighbour, bool critical) {
    const std::uint32_t shard = shard_of_block_[block_of_[neighbour]];
    if (shard == detail::none) return;
    pull_[shard] += critical ? critical_edge : 1.0;
  }

  void pull_to_chunk(std::uint32_t source) {
    const double share = source_weight_ / source_weight_total_;
    source_weight_ += weight_[source];
    pull_[std::min(shards_ - 1, static_cast<std::uint32_t>(share * shards_))] += nearby_source;
  }

  /// A block of several tasks lasts: it must find room in the whole, not in the part of time where it begins.
  std::uint32_t best_shard(double weight, bool lasts) const {
    const double whole = weight_total_ / shards_ * (1 + excess);
    const double so_far = given_out_ / shards_ * (1 + excess) + weight_total_ / shards_ * lead;
    const double room_max = lasts ? whole : std::min(whole, so_far);
    std::uint32_t best = detail::none;
    std::pair<double, double> best_score;
    std::uint32_t emptiest = 0;
    for (std::uint32_t shard = 0; shard < shards_; ++shard) {
      if (load_[shard] < load_[emptiest]) emptiest = shard;
      if (load_[shard] + weight > room_max) continue;
      // Without neighbours anywhere the emptier shard is better.
      const std::pair score{pull_[shard] * (1 - (load_[shard] + weight) / room_max), -load_[shard]};
      if (best == detail::none || score > best_score) {
        best = shard;
        best_score = score;
      }
    }
    return best == detail::none ? emptiest : best;  // a block larger than a share fits nowhere
  }

  const Fragment& fragment_;
  const std::uint32_t shards_;
  const OutEdges out_edges_;
  const std::vector<std::uint32_t> order_;
  const std::vector<std::uint32_t> block_of_;
  std::vector<std::uint32_t> first_member_;  // of each block, in members_
  std::vector<std::uint32_t> members_;
  std::vector<double> weight_;
  double weight_total_ = 0;
  double source_weight_total_ = 0;
  std::vector<std::uint32_t> next_on_critical_path_;

  std::vector<std::uint32_t> shard_of_block_;
  std::vector<double> load_;
  std::vector<double> pull_;  // of each shard on the block at hand
  double given_out_ = 0;
  double source_weight_ = 0;  // of the tasks without predecessors in given_out_
};

}  // namespace

std::vector<ShardIndex> partition(const Fragment& fragment, std::uint32_t shards) {
  DAG_CHECK(shards > 0 && shards <= limits::shards_max);
  if (shards == 1) return std::vector<ShardIndex>(fragment.size(), 0);
  return Greedy(fragment, shards).run();
}

PartitionQuality quality(const Fragment& fragment, std::span<const ShardIndex> shard_of,
                         std::uint32_t shards) {
  DAG_CHECK(shard_of.size() == fragment.size());
  PartitionQuality quality;
  fragment.each_edge([&](const Edge& edge, std::uint32_t) {
    quality.edges_cut += shard_of[edge.predecessor] != shard_of[edge.successor] ? 1 : 0;
  });
  std::vector<std::size_t> tasks(shards, 0);
  for (const ShardIndex shard : shard_of) ++tasks[shard];
  if (!shard_of.empty()) {
    quality.tasks_largest = static_cast<double>(*std::max_element(tasks.begin(), tasks.end())) * shards /
                            static_cast<double>(shard_of.size());
  }
  return quality;
}

}  // namespace dag
