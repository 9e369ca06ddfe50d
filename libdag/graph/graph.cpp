// The parts of dag::Graph that are no templates.

#include "dag/graph.hpp"

#include <utility>

namespace dag {

Graph::Graph(std::string name) : name_(std::move(name)), builder_(std::make_unique<detail::Builder>()) {}
Graph::~Graph() = default;

namespace detail {

void throw_foreign_handle() {
  throw Failure(
      {ErrorCode::handle_foreign, "a handle was used with a graph that did not make it",
       "pass handles only to tasks of their own graph (or, spawned ones, of the kernel that spawned them)"});
}

static std::string text_of(Range range) {
  return std::to_string(range.rows) + " x " + std::to_string(range.columns);
}

void throw_outside_of(Range range, std::uint32_t row, std::uint32_t column) {
  throw Failure({ErrorCode::usage,
                 "a family of " + text_of(range) + " tasks has none at row " + std::to_string(row) +
                     ", column " + std::to_string(column),
                 "rows and columns are counted from 0"});
}

void throw_other_range(std::string_view name, Range wanted, Range given) {
  throw Failure({ErrorCode::usage,
                 "the family '" + std::string(name) + "' of " + text_of(wanted) +
                     " tasks cannot take one argument each from a family of " + text_of(given),
                 "give both the same range, or pass the outputs it needs one by one"});
}

void join_group(Policy& policy, std::uint32_t group) {
  if (policy.group && *policy.group != group) {
    throw Failure({ErrorCode::usage, "a task cannot be a member of two groups",
                   "a restart must concern one group: leave one .in() out"});
  }
  policy.group = group;
}

void throw_actor_in_family(std::string_view name) {
  throw Failure({ErrorCode::usage, "the family '" + std::string(name) + "' cannot be handed a job actor",
                 "add the tasks that call it by Graph::task"});
}

}  // namespace detail
}  // namespace dag
