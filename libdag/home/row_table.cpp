#include "libdag/home/row_table.hpp"

#include <algorithm>

#include "libdag/graph/family.hpp"

namespace dag {

using detail::ArgumentKind;
using detail::CallKind;
using detail::Edge;
using detail::EdgeEnd;
using detail::EdgeKind;
using detail::Fragment;

std::span<const Part::Conditional> Part::conditionals_of(std::uint32_t task) const {
  const auto first =
      std::lower_bound(conditionals.begin(), conditionals.end(), task,
                       [](const Conditional& one, std::uint32_t wanted) { return one.task < wanted; });
  auto last = first;
  while (last != conditionals.end() && last->task == task) ++last;
  return {first, last};
}

std::vector<detail::Code> RowTable::predicates_of(const Row& row) const {
  std::vector<detail::Code> predicates;
  for (const Part::Conditional& one : parts_[row.part]->conditionals_of(row.task)) {
    predicates.push_back(fragment_of(row).codes[one.code]);
  }
  return predicates;
}

bool RowTable::plain(const Fragment& fragment, std::uint32_t task) const {
  if (representation_ == Representation::supervised || fragment.kind(task).call != CallKind::ordinary) {
    return false;
  }
  const Policy& policy = fragment.policy(task);
  if (policy.effects != Effects::pure || policy.join != Join::all || policy.timeout ||
      policy.needs != Needs{} || policy.priority != Priority::normal) {
    return false;
  }
  for (const EdgeEnd end : fragment.in_edges(task)) {
    if (end.kind() != EdgeKind::strong) return false;
  }
  return true;
}

std::uint32_t RowTable::add(std::shared_ptr<const Fragment> fragment, TaskId first_id,
                            const Sharding* sharding) {
  auto part = std::make_unique<Part>();
  const std::uint32_t count = fragment->size();
  const auto is_mine = [&](std::uint32_t task) {
    return sharding == nullptr || sharding->shard_of[task] == sharding->shard;
  };
  part->first_id = first_id;

  // Rows of ours, and ghosts of foreign predecessors, in the order of the tasks.
  std::vector<bool> ghost(count, false);
  part->first_out.assign(count + 1, 0);
  fragment->each_edge([&](const Edge& edge, std::uint32_t) {
    ++part->first_out[edge.predecessor + 1];
    if (is_mine(edge.successor) && !is_mine(edge.predecessor)) ghost[edge.predecessor] = true;
  });
  for (std::uint32_t task = 0; task < count; ++task) part->first_out[task + 1] += part->first_out[task];
  std::uint32_t needed = 0;
  for (std::uint32_t task = 0; task < count; ++task) needed += is_mine(task) || ghost[task] ? 1 : 0;
  RowIndex row = rows_.grow(needed);
  part->rows_begin = row;
  part->rows_end = row + needed;
  if (needed < count) part->rows.assign(count, no_row);
  const std::uint32_t number = parts_.size();
  for (std::uint32_t task = 0; task < count; ++task) {
    if (!is_mine(task) && !ghost[task]) continue;
    if (!part->rows.empty()) part->rows[task] = row;
    Row& made = rows_[row++];
    made.part = number;
    made.task = task;
    made.ghost = !is_mine(task);
    made.ends_by_itself = plain(*fragment, task);
    made.home_waits = part->first_out[task] == part->first_out[task + 1];
    Word word;
    if (!made.ghost) {
      const std::uint32_t edges = fragment->edge_count(task);
      DAG_CHECK(edges < Word::open_max);
      word.open = edges + 1;
      word.plain = made.ends_by_itself;
    }
    made.word.store(word.packed(), std::memory_order_release);
  }

  part->out.resize(fragment->edges.size());
  if (sharding != nullptr) part->lane_successors.assign(fragment->edges.size(), no_row);
  std::vector<std::uint32_t> at(part->first_out.begin(), part->first_out.end() - 1);
  fragment->each_edge([&](const Edge& edge, std::uint32_t) {
    const std::uint32_t place = at[edge.predecessor]++;
    part->out[place] = EdgeEnd(edge.successor, edge.kind);
    if (edge.kind == EdgeKind::strong) {
      if (sharding != nullptr && is_mine(edge.successor))
        part->lane_successors[place] = part->row_of(edge.successor);
      return;
    }
    const RowIndex predecessor = part->row_of(edge.predecessor);
    if (predecessor == no_row) return;
    rows_[predecessor].home_waits = true;
    // Its condition is evaluated where the predecessor ran, so that end is more than a lane says quickly.
    if (edge.kind == EdgeKind::conditional) rows_[predecessor].ends_by_itself = false;
  });
  for (const detail::Condition& condition : fragment->conditions) {
    part->conditionals.push_back({fragment->edges[condition.edge].task(), condition.edge, condition.code});
  }
  std::stable_sort(part->conditionals.begin(), part->conditionals.end(),
                   [](const Part::Conditional& a, const Part::Conditional& b) { return a.task < b.task; });
  if (sharding != nullptr) add_other_shards(*part, *sharding);
  part->fragment = std::move(fragment);

  const std::uint32_t slot = parts_.grow(1);
  parts_[slot] = std::move(part);
  const Block block{first_id, count, slot};
  blocks_.insert(std::upper_bound(blocks_.begin(), blocks_.end(), block,
                                  [](const Block& a, const Block& b) { return a.first < b.first; }),
                 block);
  return slot;
}

void RowTable::add_other_shards(Part& part, const Sharding& sharding) {
  for (RowIndex row = part.rows_begin; row < part.rows_end; ++row) {
    const auto first = static_cast<std::ptrdiff_t>(part.other_shards.size());
    part.first_other.push_back(static_cast<std::uint32_t>(first));
    const std::uint32_t task = rows_[row].task;
    if (rows_[row].ghost) {
      part.other_shards.push_back(sharding.shard_of[task]);
      continue;
    }
    for (const EdgeEnd end : part.out_edges(task)) {
      const std::uint32_t shard = sharding.shard_of[end.task()];
      if (shard != sharding.shard) part.other_shards.push_back(shard);
    }
    std::sort(part.other_shards.begin() + first, part.other_shards.end());
    part.other_shards.erase(std::unique(part.other_shards.begin() + first, part.other_shards.end()),
                            part.other_shards.end());
    rows_[row].awaited = part.other_shards.end() - part.other_shards.begin() > first;
  }
  part.first_other.push_back(static_cast<std::uint32_t>(part.other_shards.size()));
  // The first that becomes ready runs at once.
  for (RowIndex row = part.rows_begin; row < part.rows_end; ++row) {
    const std::uint32_t task = rows_[row].task;
    std::stable_partition(part.lane_successors.begin() + part.first_out[task],
                          part.lane_successors.begin() + part.first_out[task + 1], [&](RowIndex successor) {
                            return successor != no_row && rows_[successor].awaited;
                          });
  }
}

RowIndex RowTable::find(TaskId id) const {
  auto after = std::upper_bound(blocks_.begin(), blocks_.end(), id,
                                [](TaskId wanted, const Block& block) { return wanted < block.first; });
  if (after == blocks_.begin()) return no_row;
  const Block& block = *--after;
  if (block.first.origin != id.origin || id.index - block.first.index >= block.count) return no_row;
  return parts_[block.part]->row_of(id.index - block.first.index);
}

bool RowTable::gather_inputs(RowIndex row, std::vector<Blob>& blobs, std::vector<detail::ArgumentView>& views,
                             std::uint32_t& missing_edge) const {
  const Row& wanted = rows_[row];
  const Part& in = *parts_[wanted.part];
  const Fragment& fragment = *in.fragment;
  const std::span<const detail::Argument> arguments = fragment.arguments_of(wanted.task);
  blobs.clear();
  views.clear();
  if (arguments.empty()) return true;
  std::size_t total = 0;
  for (const detail::Argument& argument : arguments) total += argument.count;
  blobs.reserve(total);  // Views point into it: it must not move.
  const std::span<const EdgeEnd> edges = fragment.in_edges(wanted.task);
  for (const detail::Argument& argument : arguments) {
    const Blob* first = blobs.data() + blobs.size();
    if (!is_input(argument.kind)) {
      blobs.push_back(argument_value(fragment, wanted.task, argument));
      views.push_back({first, 1});
      continue;
    }
    const bool may_be_absent = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
    for (std::uint32_t j = 0; j < argument.count; ++j) {
      const RowIndex predecessor = in.row_of(edges[argument.first + j].task());
      blobs.push_back(rows_[predecessor].output.load());
      if (!blobs.back() && !(may_be_absent && word(predecessor).outcome != Outcome::finished)) {
        missing_edge = argument.first + j;
        return false;
      }
    }
    views.push_back({first, argument.count});
  }
  return true;
}

}  // namespace dag
