#include "libdag/rows/row_table.hpp"

#include <algorithm>
#include <iterator>

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
  if (policy.starts_from_settled() || policy.effects == Effects::staged || policy.join != Join::all ||
      policy.timeout || policy.checkpoint || policy.needs != Needs{} || policy.priority != Priority::normal) {
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
  DAG_CHECK(rows_.size() <= Successor::rows_max);
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
  std::vector<std::uint32_t> at(part->first_out.begin(), part->first_out.end() - 1);
  fragment->each_edge([&](const Edge& edge, std::uint32_t) {
    const RowIndex successor = is_mine(edge.successor) ? part->row_of(edge.successor) : no_row;
    part->out[at[edge.predecessor]++] = Successor(successor, edge.kind);
    if (edge.kind == EdgeKind::strong) return;
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
  if (sharding != nullptr) add_other_shards(*part, *fragment, *sharding);
  part->fragment = std::move(fragment);

  const std::uint32_t slot = parts_.grow(1);
  parts_[slot] = std::move(part);
  const Block block{first_id, count, slot};
  blocks_.insert(std::upper_bound(blocks_.begin(), blocks_.end(), block,
                                  [](const Block& a, const Block& b) { return a.first < b.first; }),
                 block);
  return slot;
}

void RowTable::add_other_shards(Part& part, const Fragment& fragment, const Sharding& sharding) {
  const std::span<const ShardIndex> shard_of = sharding.shard_of;
  const auto leads_out = [&](const Edge& edge) {
    return shard_of[edge.predecessor] == sharding.shard && shard_of[edge.successor] != sharding.shard;
  };
  const auto place_of = [&](std::uint32_t task) { return part.row_of(task) - part.rows_begin; };
  // Room for one shard per edge that leads out, and for a ghost's own; each row's are made few then.
  const std::uint32_t rows = part.rows_end - part.rows_begin;
  std::vector<std::uint32_t> first(rows + 1, 0);
  for (std::uint32_t i = 0; i < rows; ++i) first[i + 1] = rows_[part.rows_begin + i].ghost ? 1 : 0;
  fragment.each_edge([&](const Edge& edge, std::uint32_t) {
    if (leads_out(edge)) ++first[place_of(edge.predecessor) + 1];
  });
  for (std::uint32_t i = 0; i < rows; ++i) first[i + 1] += first[i];
  std::vector<ShardIndex> shards(first[rows]);
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  fragment.each_edge([&](const Edge& edge, std::uint32_t) {
    if (leads_out(edge)) shards[next[place_of(edge.predecessor)]++] = shard_of[edge.successor];
  });
  part.first_other.reserve(rows + 1);
  for (std::uint32_t i = 0; i < rows; ++i) {
    Row& row = rows_[part.rows_begin + i];
    if (row.ghost) shards[first[i]] = shard_of[row.task];
    const auto begin = shards.begin() + first[i], end = shards.begin() + first[i + 1];
    std::sort(begin, end);
    part.first_other.push_back(static_cast<std::uint32_t>(part.other_shards.size()));
    std::unique_copy(begin, end, std::back_inserter(part.other_shards));
    row.awaited = !row.ghost && begin != end;
  }
  part.first_other.push_back(static_cast<std::uint32_t>(part.other_shards.size()));
  part.other_shards.shrink_to_fit();
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint32_t task = rows_[part.rows_begin + i].task;
    std::stable_partition(
        part.out.begin() + part.first_out[task], part.out.begin() + part.first_out[task + 1],
        [&](Successor successor) { return successor.row() != no_row && rows_[successor.row()].awaited; });
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
