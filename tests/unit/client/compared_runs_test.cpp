// Verdicts on tasks that ran here, here again, and in another process.
#include "libdag/client/compared_runs.hpp"

#include <catch2/catch.hpp>

#include "dag/graph.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

std::vector<Settlement> gave(std::vector<int> values) {
  std::vector<Settlement> all;
  for (const int value : values) {
    all.push_back({Outcome::finished, Blob(std::as_bytes(std::span(&value, 1))), std::nullopt});
  }
  return all;
}

/// a -> b -> c, and d alone.
std::shared_ptr<const Fragment> graph() {
  static Graph graph("compared");
  static const auto sealed = [] {
    const auto a = graph.task("a", [] { return 0; });
    const auto b = graph.task(
        "b", [](int) { return 0; }, a);
    graph.task(
        "c", [](int) { return 0; }, b);
    graph.task("d", [] { return 0; });
    return graph.builder().seal();
  }();
  return sealed;
}

}  // namespace

TEST_CASE("tasks that give the same three times are the same") {
  const auto every = gave({1, 2, 3, 4});
  const ComparedRuns compared = compare_runs(*graph(), every, every, every);
  CHECK(compared.same == 4);
  CHECK(told_of(compared, *graph(), every, every) == std::nullopt);
  CHECK(summary(compared) == "4 tasks give the same in a process of their own");
}

TEST_CASE("the first task that differs is to blame, and not those made from it") {
  const auto here = gave({1, 2, 3, 4}), elsewhere = gave({1, 20, 30, 4});
  const ComparedRuns compared = compare_runs(*graph(), here, here, elsewhere);
  CHECK(compared.differing == std::vector<std::uint32_t>{1});
  CHECK(compared.same == 2);
  CHECK_THAT(told_of(compared, *graph(), here, elsewhere)->what,
             Catch::StartsWith("'b' (task 1) gives another value"));
}

TEST_CASE("a task that gives another value each time is not judged, nor what is made from it") {
  const auto compared = compare_runs(*graph(), gave({1, 2, 3, 4}), gave({10, 20, 30, 4}), gave({7, 7, 7, 4}));
  CHECK(compared.varying == std::vector<std::uint32_t>{0});
  CHECK(compared.differing.empty());
  CHECK(summary(compared) ==
        "1 task gives the same in a process of its own; 1 task gives another value each time; tasks "
        "computed from them were not compared");
}

TEST_CASE("an ending that differs is told with both endings") {
  const auto here = gave({1, 2, 3, 4});
  auto elsewhere = here;
  elsewhere[3] = {Outcome::failed, {}, Error{ErrorCode::task_failed, "d: no scale"}};
  const auto why = told_of(compare_runs(*graph(), here, here, elsewhere), *graph(), here, elsewhere);
  CHECK(why->code == ErrorCode::not_reproducible);
  CHECK_THAT(why->cause, Catch::Contains("d here: finished\n") && Catch::Contains("d: no scale"));
}
