#include "libdag/rows/row_table.hpp"

#include <algorithm>

#include "libdag/graph/family.hpp"

namespace dag {

using detail::ArgumentKind;
using detail::EdgeEnd;
using detail::Fragment;

Part::Part(std::shared_ptr<const Fragment> of, std::shared_ptr<const Program> with, TaskId id, RowIndex begin)
    : fragment(std::move(of)),
      program(std::move(with)),
      first_id(id),
      rows_begin(begin),
      rows_end(begin + program->size()),
      first_in_(program->first_in.empty() ? fragment->first_edge.data() : program->first_in.data()),
      in_(program->first_in.empty() ? fragment->edges.data() : program->in.data()),
      first_out_(program->first_out.data()),
      out_(program->out.data()) {}

std::vector<detail::Code> RowTable::predicates_of(const Row& row) const {
  std::vector<detail::Code> predicates;
  const Part& in = *parts_[row.part];
  for (const Program::Conditional& one : in.program->conditionals_of(in.row_of(row.task) - in.rows_begin)) {
    predicates.push_back(in.fragment->codes[one.code]);
  }
  return predicates;
}

std::uint32_t RowTable::add(std::shared_ptr<const Fragment> fragment, std::shared_ptr<const Program> program,
                            TaskId first_id, bool closed) {
  const RowIndex begin = rows_.grow(program->size());
  DAG_CHECK(rows_.size() <= Successor::rows_max);
  DAG_CHECK(begin == 0 || program->row_of.empty());
  const std::uint32_t number = parts_.grow(1), count = fragment->size();
  parts_[number] = std::make_unique<Part>(std::move(fragment), std::move(program), first_id, begin);
  const Part& part = *parts_[number];
  const bool supervised = representation_ == Representation::supervised;
  const Program& of = *part.program;
  const RowIndex own = of.rows;
  const bool every_task = of.task_of.empty();
  RowIndex row = 0;
  rows_.each_piece(begin, of.size(), [&](Row* made, std::uint32_t some) {
    for (Row* const end = made + some; made != end; ++made, ++row) {
      const std::uint8_t flags = of.flags[row];
      made->part = number;
      made->task = every_task ? row : of.task_of[row];
      made->ghost = row >= own;
      made->home_waits = (flags & row_flag::home_waits) != 0;
      made->awaited = (flags & row_flag::awaited) != 0;
      made->ends_by_itself = (flags & row_flag::ends_by_itself) != 0 && !supervised;
      Word word;
      if (row < own) {
        const auto edges = static_cast<std::uint32_t>(part.in_edges(begin + row).size());
        DAG_CHECK(edges < Word::open_max);
        word.open = edges + (closed || edges == 0 ? 1 : 0);
        word.plain = (flags & row_flag::plain) != 0 && !supervised;
      }
      made->word.store(word.packed(), std::memory_order_release);
    }
  });
  const Block block{first_id, count, number};
  blocks_.insert(std::upper_bound(blocks_.begin(), blocks_.end(), block,
                                  [](const Block& a, const Block& b) { return a.first < b.first; }),
                 block);
  return number;
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
  const std::span<const EdgeEnd> edges = in.in_edges(row);
  for (const detail::Argument& argument : arguments) {
    const Blob* first = blobs.data() + blobs.size();
    if (!is_input(argument.kind)) {
      blobs.push_back(argument_value(fragment, wanted.task, argument));
      views.push_back({first, 1});
      continue;
    }
    const bool may_be_absent = argument.kind == ArgumentKind::maybe || argument.kind == ArgumentKind::quorum;
    for (std::uint32_t j = 0; j < argument.count; ++j) {
      const RowIndex predecessor = in.rows_begin + edges[argument.first + j].task();
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
