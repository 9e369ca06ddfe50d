#include "libdag/home/row_table.hpp"

#include <algorithm>

namespace dag {

using detail::ArgumentKind;
using detail::CallKind;
using detail::Edge;
using detail::EdgeKind;
using detail::Fragment;
using detail::TaskDraft;

bool RowTable::plain(const Fragment& fragment, const TaskDraft& task) const {
  if (representation_ == Representation::supervised || task.call != CallKind::ordinary) return false;
  const Policy& policy = fragment.policies[task.policy];
  if (policy.effects != Effects::pure || policy.join != Join::all || policy.timeout ||
      policy.needs != Needs{} || policy.priority != Priority::normal) {
    return false;
  }
  for (std::uint32_t i = 0; i < task.edge_count; ++i) {
    if (fragment.edges[task.first_edge + i].kind != EdgeKind::strong) return false;
  }
  return true;
}

std::uint32_t RowTable::add(std::shared_ptr<const Fragment> fragment, TaskId first_id,
                            const Sharding* sharding) {
  auto part = std::make_unique<Part>();
  const auto count = static_cast<std::uint32_t>(fragment->tasks.size());
  const auto is_mine = [&](std::uint32_t task) {
    return sharding == nullptr || sharding->shard_of[task] == sharding->shard;
  };
  part->first_id = first_id;
  part->rows.assign(count, no_row);

  // Rows of ours, then ghosts of foreign predecessors; both in the order of the tasks.
  std::vector<bool> ghost(count, false), has_successors(count, false);
  for (const Edge& edge : fragment->edges) {
    has_successors[edge.predecessor] = true;
    if (is_mine(edge.successor) && !is_mine(edge.predecessor)) ghost[edge.predecessor] = true;
  }
  std::uint32_t needed = 0;
  for (std::uint32_t task = 0; task < count; ++task) needed += is_mine(task) || ghost[task] ? 1 : 0;
  RowIndex row = rows_.grow(needed);
  if (needed == count) part->first_row = row;
  part->rows_begin = row;
  const std::uint32_t number = parts_.size();
  for (std::uint32_t task = 0; task < count; ++task) {
    if (!is_mine(task) && !ghost[task]) continue;
    part->rows[task] = row;
    Row& made = rows_[row++];
    made.id = {first_id.origin, first_id.index + task};
    made.part = number;
    made.task = task;
    made.ghost = !is_mine(task);
    const TaskDraft& draft = fragment->tasks[task];
    made.ends_by_itself = plain(*fragment, draft);
    made.home_waits = !has_successors[task];
    Word word;
    if (!made.ghost) {
      DAG_CHECK(draft.edge_count < Word::open_max);
      word.open = draft.edge_count + 1;
      word.plain = made.ends_by_itself;
    }
    made.word.store(word.packed(), std::memory_order_release);
  }

  part->first_out.assign(count + 1, 0);
  for (const Edge& edge : fragment->edges) ++part->first_out[edge.predecessor + 1];
  for (std::uint32_t task = 0; task < count; ++task) part->first_out[task + 1] += part->first_out[task];
  part->out.resize(fragment->edges.size());
  std::vector<std::uint32_t> at(part->first_out.begin(), part->first_out.end() - 1);
  part->lane_successors.assign(fragment->edges.size(), no_row);
  for (std::uint32_t i = 0; i < fragment->edges.size(); ++i) {
    const Edge& edge = fragment->edges[i];
    const std::uint32_t place = at[edge.predecessor]++;
    part->out[place] = i;
    if (edge.kind == EdgeKind::strong && is_mine(edge.successor)) {
      part->lane_successors[place] = part->rows[edge.successor];
    }
  }
  for (const Edge& edge : fragment->edges) {
    // Its condition is evaluated where the predecessor ran, so that end is more than a lane says quickly.
    if (edge.kind == EdgeKind::conditional && part->rows[edge.predecessor] != no_row) {
      rows_[part->rows[edge.predecessor]].ends_by_itself = false;
    }
    if (edge.kind != EdgeKind::strong && part->rows[edge.predecessor] != no_row) {
      rows_[part->rows[edge.predecessor]].home_waits = true;
    }
  }
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
  for (std::uint32_t task = 0; task < part.rows.size(); ++task) {
    if (part.rows[task] == no_row) continue;
    const auto first = static_cast<std::ptrdiff_t>(part.other_shards.size());
    part.first_other.push_back(static_cast<std::uint32_t>(first));
    if (rows_[part.rows[task]].ghost) {
      part.other_shards.push_back(sharding.shard_of[task]);
      continue;
    }
    for (std::uint32_t i = part.first_out[task]; i < part.first_out[task + 1]; ++i) {
      const std::uint32_t shard = sharding.shard_of[fragment.edges[part.out[i]].successor];
      if (shard != sharding.shard) part.other_shards.push_back(shard);
    }
    std::sort(part.other_shards.begin() + first, part.other_shards.end());
    part.other_shards.erase(std::unique(part.other_shards.begin() + first, part.other_shards.end()),
                            part.other_shards.end());
    rows_[part.rows[task]].awaited = part.other_shards.end() - part.other_shards.begin() > first;
  }
  part.first_other.push_back(static_cast<std::uint32_t>(part.other_shards.size()));
  // The first that becomes ready runs at once.
  for (std::uint32_t task = 0; task < part.rows.size(); ++task) {
    std::stable_partition(part.lane_successors.begin() + part.first_out[task],
                          part.lane_successors.begin() + part.first_out[task + 1],
                          [&](RowIndex row) { return row != no_row && rows_[row].awaited; });
  }
}

RowIndex RowTable::find(TaskId id) const {
  auto after = std::upper_bound(blocks_.begin(), blocks_.end(), id,
                                [](TaskId wanted, const Block& block) { return wanted < block.first; });
  if (after == blocks_.begin()) return no_row;
  const Block& block = *--after;
  if (block.first.origin != id.origin || id.index - block.first.index >= block.count) return no_row;
  return parts_[block.part]->rows[id.index - block.first.index];
}

bool RowTable::gather_inputs(RowIndex row, std::vector<Blob>& blobs, std::vector<detail::ArgumentView>& views,
                             std::uint32_t& missing_edge) const {
  const Row& wanted = rows_[row];
  const Part& in = *parts_[wanted.part];
  const Fragment& fragment = *in.fragment;
  const TaskDraft& task = fragment.tasks[wanted.task];
  blobs.clear();
  views.clear();
  if (task.argument_count == 0) return true;
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < task.argument_count; ++i)
    total += fragment.arguments[task.first_argument + i].count;
  blobs.reserve(total);  // Views point into it: it must not move.
  for (std::uint32_t i = 0; i < task.argument_count; ++i) {
    const detail::Argument& argument = fragment.arguments[task.first_argument + i];
    const Blob* first = blobs.data() + blobs.size();
    if (argument.kind == ArgumentKind::literal) {
      blobs.push_back(fragment.literals[argument.first]);
      views.push_back({first, 1});
      continue;
    }
    const bool may_be_absent = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
    for (std::uint32_t j = 0; j < argument.count; ++j) {
      const Edge& edge = fragment.edges[task.first_edge + argument.first + j];
      const RowIndex predecessor = in.row_of(edge.predecessor);
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
