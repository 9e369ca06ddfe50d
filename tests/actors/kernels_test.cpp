// Values that kernels and job actors get, and may keep.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <numeric>

#include "tests/support/test_session.hpp"

using dag::test::TestSession;

namespace {

/// Keeps views of what it was made from, as its author may without thinking of it.
class Catalogue {
 public:
  Catalogue(std::string_view name, std::span<const double> prices, std::string owner)
      : name_(name), prices_(prices), owner_(std::move(owner)) {}
  std::string entry(std::size_t i) const {
    return std::string(name_) + " of " + owner_ + ": " + std::to_string(prices_[i]);
  }

 private:
  std::string_view name_;
  std::span<const double> prices_;
  std::string owner_;
};
struct Label {
  std::string_view text;
  std::size_t size() { return text.size(); }
  std::string copy() const { return std::string(text); }
};

/// A method of a base that is not where the object begins.
struct Named {
  std::string name = "named";
};
struct Counted {
  int count = 7;
  int counted() { return ++count; }
};
struct Both : Named, Counted {};

}  // namespace

TEST_CASE("a job actor may keep views of what it was made from") {
  TestSession session(GENERATE(false, true));
  const std::string name = GENERATE(std::string(), std::string("a"), std::string(1000, 'x'));
  dag::Graph g("views");
  std::vector<double> prices(500);
  std::iota(prices.begin(), prices.end(), 0.0);
  const auto catalogue = g.actor<Catalogue>("catalogue", name, std::span<const double>(prices), "somebody");
  const auto label = g.actor<Label>("label", std::string_view(name));
  std::vector<dag::Output<std::string>> entries;
  for (std::size_t i = 0; i < prices.size(); ++i) entries.push_back(catalogue.call<&Catalogue::entry>(i));
  const auto size = label.call<&Label::size>();
  const auto copy = label.call<&Label::copy>();
  prices.clear();
  const auto job = session->submit(g);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    REQUIRE(job.get(entries[i]) == name + " of somebody: " + std::to_string(static_cast<double>(i)));
  }
  CHECK(job.get(size) == name.size());
  CHECK(job.get(copy) == name);
}

TEST_CASE("a job actor has the methods of its bases") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("bases");
  const auto both = g.actor<Both>("both");
  const auto count = both.call<&Counted::counted>();
  CHECK(session->submit(g).get(count) == 8);
}

TEST_CASE("a task reads all that a family left, and one of its rows") {
  TestSession session(GENERATE(false, true));
  using Numbers = std::vector<std::uint32_t>;
  dag::Graph g("family");
  const auto cells =
      g.family("cell", dag::Range{3, 4}, [](dag::Point at) { return at.row * 10 + at.column; }, {});
  const auto all = g.task(
      "all", [](const Numbers& read) { return read; }, cells);
  const auto row = g.task(
      "row", [](const Numbers& read) { return read; }, cells.row(1));
  const auto job = session->submit(g);
  CHECK(job.get(all) == Numbers{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  CHECK(job.get(row) == Numbers{10, 11, 12, 13});
}
