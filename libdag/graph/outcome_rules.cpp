// The tables of outcome_rules.hpp, in their order.

#include "libdag/graph/outcome_rules.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {
namespace {

using detail::Argument;
using detail::ArgumentKind;
using detail::EdgeKind;

struct Tally {
  std::uint32_t good = 0;
  std::uint32_t off = 0;
  std::uint32_t bad = 0;
};

Tally tally(std::span<const EdgeResult> in_edges) {
  Tally tally;
  for (const EdgeResult& edge : in_edges) {
    DAG_CHECK(edge.outcome != Outcome::none);
    if (edge.kind == EdgeKind::weak) continue;
    if (edge.outcome == Outcome::failed || edge.outcome == Outcome::cancelled) {
      ++tally.bad;
    } else if (edge.outcome == Outcome::finished && (edge.kind == EdgeKind::strong || edge.condition)) {
      ++tally.good;
    } else {
      ++tally.off;
    }
  }
  return tally;
}

Decision join_says(Join join, const Tally& edges) {
  switch (join) {
    case Join::all:
      if (edges.bad > 0) return Decision::cancel;
      return edges.off > 0 ? Decision::skip : Decision::run;
    case Join::one_success:
      if (edges.good > 0) return Decision::run;
      if (edges.bad > 0) return Decision::cancel;
      return edges.off > 0 ? Decision::skip : Decision::run;
    case Join::none_failed:
      return edges.bad > 0 ? Decision::cancel : Decision::run;
  }
  DAG_CHECK(false);
}

bool is_there(const Argument& argument, std::span<const EdgeResult> in_edges) {
  if (!is_input(argument.kind) || argument.kind == ArgumentKind::maybe) return true;
  DAG_CHECK(argument.first <= in_edges.size());
  DAG_CHECK(argument.count <= in_edges.size() - argument.first);
  const auto named = in_edges.subspan(argument.first, argument.count);
  const auto finished = std::count_if(
      named.begin(), named.end(), [](const EdgeResult& edge) { return edge.outcome == Outcome::finished; });
  return finished >= (argument.kind == ArgumentKind::quorum ? argument.quorum : argument.count);
}

}  // namespace

Decision decide(Join join, std::span<const EdgeResult> in_edges, std::span<const Argument> arguments) {
  const Decision decision = join_says(join, tally(in_edges));
  if (decision != Decision::run) return decision;
  const bool complete = std::all_of(arguments.begin(), arguments.end(),
                                    [&](const Argument& argument) { return is_there(argument, in_edges); });
  return complete ? Decision::run : Decision::skip;
}

}  // namespace dag
