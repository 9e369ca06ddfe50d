// The tables of outcome_rules.hpp, row by row.

#include "libdag/graph/outcome_rules.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "libdag/base/check.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

// A letter per in-edge. Strong: F finished, X failed, S skipped, C cancelled. Conditional: T holds, N does
// not, x failed, s skipped, c cancelled. Weak: f finished, w failed, k skipped, l cancelled.
const std::map<char, EdgeResult> letter_means = {
    {'F', {EdgeKind::strong, Outcome::finished}},
    {'X', {EdgeKind::strong, Outcome::failed}},
    {'S', {EdgeKind::strong, Outcome::skipped}},
    {'C', {EdgeKind::strong, Outcome::cancelled}},
    {'T', {EdgeKind::conditional, Outcome::finished, true}},
    {'N', {EdgeKind::conditional, Outcome::finished, false}},
    {'x', {EdgeKind::conditional, Outcome::failed}},
    {'s', {EdgeKind::conditional, Outcome::skipped}},
    {'c', {EdgeKind::conditional, Outcome::cancelled}},
    {'f', {EdgeKind::weak, Outcome::finished}},
    {'w', {EdgeKind::weak, Outcome::failed}},
    {'k', {EdgeKind::weak, Outcome::skipped}},
    {'l', {EdgeKind::weak, Outcome::cancelled}},
};

std::vector<EdgeResult> edges(const std::string& letters) {
  std::vector<EdgeResult> result;
  for (const char letter : letters) result.push_back(letter_means.at(letter));
  return result;
}

constexpr Decision r = Decision::run;
constexpr Decision s = Decision::skip;
constexpr Decision c = Decision::cancel;

struct Row {
  std::string in_edges;
  Decision all, one_success, none_failed;
};

}  // namespace

TEST_CASE("joins", "[outcome_rules]") {
  const Row row = GENERATE(values<Row>({
      // in-edges, all, one_success, none_failed
      {"", r, r, r},
      {"F", r, r, r},
      {"FF", r, r, r},
      {"X", c, c, c},
      {"S", s, s, r},
      {"C", c, c, c},
      {"T", r, r, r},
      {"N", s, s, r},
      {"x", c, c, c},
      {"s", s, s, r},
      {"c", c, c, c},
      {"f", r, r, r},
      {"w", r, r, r},
      {"k", r, r, r},
      {"l", r, r, r},
      {"FX", c, r, c},
      {"FS", s, r, r},
      {"FC", c, r, c},
      {"FN", s, r, r},
      {"TN", s, r, r},
      {"NN", s, s, r},
      {"XS", c, c, c},
      {"SX", c, c, c},  // cancelled wins over skipped, in either
                        // order
      {"NX", c, c, c},
      {"NC", c, c, c},
      {"TX", c, r, c},
      {"Fw", r, r, r},
      {"Sf", s, s, r},  // a weak success is none for the join
      {"Xf", c, c, c},
      {"FTwkl", r, r, r},
  }));
  CAPTURE(row.in_edges);
  CHECK(decide(Join::all, edges(row.in_edges), {}) == row.all);
  CHECK(decide(Join::one_success, edges(row.in_edges), {}) == row.one_success);
  CHECK(decide(Join::none_failed, edges(row.in_edges), {}) == row.none_failed);
}

TEST_CASE("arguments", "[outcome_rules]") {
  struct ArgumentRow {
    std::string in_edges;
    Join join;
    std::vector<Argument> arguments;
    Decision decision;
  };
  const Argument literal{ArgumentKind::literal, 99, 1, 0};
  const auto input = [](std::uint32_t i) { return Argument{ArgumentKind::input, i, 1, 0}; };
  const auto maybe = [](std::uint32_t i) { return Argument{ArgumentKind::maybe, i, 1, 0}; };
  const auto gather = [](std::uint32_t i, std::uint32_t n) {
    return Argument{ArgumentKind::gather, i, n, 0};
  };
  const auto quorum = [](std::uint32_t i, std::uint32_t n, std::uint32_t k) {
    return Argument{ArgumentKind::quorum, i, n, k};
  };
  const ArgumentRow row = GENERATE_COPY(values<ArgumentRow>({
      {"F", Join::all, {literal, input(0)}, r},
      {"w", Join::all, {maybe(0)}, r},
      {"SF", Join::none_failed, {input(0)}, s},
      {"SF", Join::none_failed, {input(1)}, r},
      {"XF", Join::one_success, {input(0)}, s},  // missing input: skipped even if its producer failed
      {"XF", Join::one_success, {input(1)}, r},
      {"FFS", Join::one_success, {gather(0, 2)}, r},
      {"FFS", Join::one_success, {gather(1, 2)}, s},
      {"FS", Join::one_success, {gather(1, 0)}, r},
      {"wwf", Join::all, {quorum(0, 3, 1)}, r},
      {"wkf", Join::all, {quorum(0, 3, 2)}, s},
      {"wlw", Join::all, {quorum(0, 3, 0)}, r},
      {"ffwX", Join::all, {quorum(0, 3, 3)}, c},  // the join speaks first
      {"ffF", Join::all, {quorum(0, 2, 3)}, s},   // and counts its own list only
      {"Fwff", Join::all, {input(0), maybe(1), quorum(2, 2, 2)}, r},
  }));
  CAPTURE(row.in_edges, static_cast<int>(row.join));
  CHECK(decide(row.join, edges(row.in_edges), row.arguments) == row.decision);
}

TEST_CASE("deciding too early, or beyond the in-edges, is a bug", "[outcome_rules]") {
  const std::vector<EdgeResult> waiting{{EdgeKind::weak, Outcome::none}};
  CHECK_THROWS_AS(decide(Join::all, waiting, {}), Bug);
  const std::vector<Argument> beyond{{ArgumentKind::gather, 1, 2, 0}};
  CHECK_THROWS_AS(decide(Join::all, edges("FF"), beyond), Bug);
}
