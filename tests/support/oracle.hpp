#pragma once
// The expected ends of a random graph, by the most naive means: look for any task whose predecessors have all
// ended, end it, begin again. It follows the tables of libdag/graph/outcome_rules.hpp and shares no code with
// it.

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/random_graph.hpp"

namespace dag::test {

struct Expected {
  Outcome outcome = Outcome::none;
  std::optional<std::uint64_t> value = {};  ///< of finished tasks that return
  std::uint32_t attempts = 0;               ///< that were charged; 0 when it never ran
};

struct Expectation {
  std::vector<Expected> tasks;
  /// Ends of spawned tasks, by the index of the spawning task; only where its attempt returned.
  std::map<std::uint32_t, Expectation> spawned = {};
};

class Oracle {
 public:
  /// `parent_value`: of the attempt that spawned this graph; see `instantiated`.
  explicit Oracle(const RandomGraph& graph, std::optional<std::uint64_t> parent_value = std::nullopt)
      : graph_(graph), fragment_(graph.fragment), parent_value_(parent_value), in_edges_(fragment_.size()) {
    // Relies only on the order of edges that lead to one task, not on how edges are sorted.
    fragment_.each_edge([&](const detail::Edge& edge, std::uint32_t place) {
      in_edges_[edge.successor].push_back({edge, place});
    });
  }

  Expectation expectation() {
    result_.tasks.resize(fragment_.size());
    for (std::size_t ended = 0; ended < fragment_.size(); ++ended) end_any();
    return std::move(result_);
  }

 private:
  void end_any() {
    for (std::uint32_t task = 0; task < fragment_.size(); ++task) {
      if (result_.tasks[task].outcome == Outcome::none && all_predecessors_ended(task)) return end(task);
    }
    throw std::logic_error("oracle: the tasks left wait for each other");
  }

  struct InEdge : detail::Edge {
    std::uint32_t place = 0;  ///< among all
  };

  const Expected& predecessor(const detail::Edge& edge) const { return result_.tasks[edge.predecessor]; }

  const std::vector<InEdge>& in_edges(std::uint32_t task) const { return in_edges_[task]; }

  bool all_predecessors_ended(std::uint32_t task) const {
    for (const detail::Edge& edge : in_edges(task)) {
      if (predecessor(edge).outcome == Outcome::none) return false;
    }
    return true;
  }

  void end(std::uint32_t task) {
    Expected& ended = result_.tasks[task];
    ended.outcome = outcome_before_running(task);
    if (ended.outcome == Outcome::none) run(task, ended);
  }

  Outcome outcome_before_running(std::uint32_t task) const {
    bool someone_succeeded = false;
    bool someone_failed = false;
    bool someone_did_not_happen = false;
    for (const InEdge& edge : in_edges(task)) {
      if (edge.kind == detail::EdgeKind::weak) continue;
      switch (predecessor(edge).outcome) {
        case Outcome::finished:
          if (edge.kind == detail::EdgeKind::conditional && !condition_holds(edge)) {
            someone_did_not_happen = true;
          } else {
            someone_succeeded = true;
          }
          break;
        case Outcome::skipped:
          someone_did_not_happen = true;
          break;
        default:
          someone_failed = true;
      }
    }
    const Join join = fragment_.policy(task).join;
    if (join == Join::all && someone_failed) return Outcome::cancelled;
    if (join == Join::all && someone_did_not_happen) return Outcome::skipped;
    if (join == Join::none_failed && someone_failed) return Outcome::cancelled;
    if (join == Join::one_success && !someone_succeeded && someone_failed) return Outcome::cancelled;
    if (join == Join::one_success && !someone_succeeded && someone_did_not_happen) return Outcome::skipped;
    if (!arguments(task)) return Outcome::skipped;
    return Outcome::none;
  }

  bool condition_holds(const InEdge& edge) const {
    const auto& value = predecessor(edge).value;
    return holds(fragment_.predicate(edge.place), value ? detail::to_blob(*value) : Blob());
  }

  /// The values of each argument except the salt; nothing when the task cannot run with present inputs.
  std::optional<std::vector<std::vector<std::optional<std::uint64_t>>>> arguments(std::uint32_t task) const {
    const std::vector<InEdge>& edges = in_edges(task);
    std::vector<std::vector<std::optional<std::uint64_t>>> all;
    for (const detail::Argument& argument : fragment_.arguments_of(task).subspan(1)) {
      std::vector<std::optional<std::uint64_t>> values;
      std::uint32_t there = 0;
      for (std::uint32_t k = 0; k < argument.count; ++k) {
        values.push_back(predecessor(edges.at(argument.first + k)).value);
        if (values.back()) ++there;
      }
      const bool all_needed =
          argument.kind == detail::ArgumentKind::input || argument.kind == detail::ArgumentKind::gather;
      if (all_needed && there < values.size()) return std::nullopt;
      if (argument.kind == detail::ArgumentKind::quorum && there < argument.quorum) return std::nullopt;
      all.push_back(std::move(values));
    }
    return all;
  }

  void run(std::uint32_t task, Expected& ended) {
    const RandomTask& random_task = graph_.tasks[task];
    const std::uint32_t attempts_allowed = attempts_of(fragment_.policy(task));
    if (random_task.failures >= attempts_allowed) {
      ended.outcome = Outcome::failed;
      ended.attempts = attempts_allowed;
      return;
    }
    ended.outcome = Outcome::finished;
    ended.attempts = random_task.failures + 1;
    const std::uint64_t value = returned(task);
    if (fragment_.kind(task).returns) ended.value = value;
    if (random_task.spawns == none) return;

    const RandomGraph& spawned = graph_.spawned[random_task.spawns];
    const Expectation below = Oracle(spawned, value).expectation();
    if (spawned.becomes != none) {
      ended.outcome = below.tasks[spawned.becomes].outcome;
      ended.value = below.tasks[spawned.becomes].value;
    }
    result_.spawned.emplace(task, below);
  }

  std::uint64_t returned(std::uint32_t task) {
    std::uint64_t value = graph_.tasks[task].salt;
    if (parent_value_) value = mixed(value, *parent_value_);
    const auto given = arguments(task).value();
    for (const auto& argument : given) {
      value = mixed(value, argument.size());
      for (const auto& input : argument) value = mixed(value, input ? *input : absent_value);
    }
    const detail::TaskKind& kind = fragment_.kind(task);
    if (kind.call == detail::CallKind::create) states_[kind.actor] = value;
    if (kind.call == detail::CallKind::call) {
      value = mixed(states_.at(kind.actor), value);
      states_[kind.actor] = value;
    }
    return value;
  }

  const RandomGraph& graph_;
  const detail::Fragment& fragment_;
  std::optional<std::uint64_t> parent_value_;
  std::vector<std::vector<InEdge>> in_edges_;
  std::map<std::uint32_t, std::uint64_t> states_;  // of actors
  Expectation result_;
};

inline Expectation oracle(const RandomGraph& graph) { return Oracle(graph).expectation(); }

}  // namespace dag::test
