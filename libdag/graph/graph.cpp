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

}  // namespace detail
}  // namespace dag
