// Tasks that stage files: as they are added, and the two that each of them is.
#include "libdag/graph/staging.hpp"

#include <catch2/catch.hpp>
#include <dag/dag.hpp>

#include "dag/detail/publish.hpp"
#include "libdag/graph/check.hpp"
#include "libdag/graph/order.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

int one() { return 1; }
int twice(int x) { return 2 * x; }
void nothing(int) {}

struct Counter {
  int n = 0;
  int add(int x) { return n += x; }
};

}  // namespace

TEST_CASE("staging: a task is a kernel and a publisher, which keeps the index") {
  Graph graph("staging");
  const auto a = graph.task("a", one);
  const auto b = graph.task("b", twice, a).effects(staged).retry({.attempts = 4}).timeout(3s).priority(high);
  const auto c = graph.task("c", nothing, b).effects(idempotent);
  graph.task("d", nothing, b).effects(staged);
  CHECK(graph.size() == 4);
  const detail::Fragment& fragment = *graph.builder().seal();
  CHECK(graph.size() == 4);  // Only added tasks count.
  REQUIRE(fragment.size() == 6);
  REQUIRE(check(fragment));
  const auto reads = [&](std::uint32_t task) {
    std::vector<std::uint32_t> from;
    for (const detail::EdgeEnd end : fragment.in_edges(task)) from.push_back(end.task());
    return from;
  };
  CHECK(reads(0).empty());
  CHECK(reads(1) == std::vector<std::uint32_t>{4});
  CHECK(reads(2) == std::vector<std::uint32_t>{1});
  CHECK(reads(3) == std::vector<std::uint32_t>{5});
  CHECK(reads(4) == std::vector<std::uint32_t>{0});
  CHECK(reads(5) == std::vector<std::uint32_t>{1});
  CHECK(fragment.name(1) == "b:publish");
  CHECK(fragment.name(4) == "b");
  CHECK(fragment.kind(1).returns);
  CHECK_FALSE(fragment.kind(3).returns);
  CHECK(fragment.kind(5).returns);  // The files.
  const Policy &publisher = fragment.policy(1), &kernel = fragment.policy(4);
  CHECK(publisher.effects == Effects::exclusive);
  CHECK(publisher.publishes);
  CHECK(publisher.starts_from_settled());
  CHECK(publisher.priority == high);
  CHECK_FALSE(publisher.timeout);
  CHECK(kernel.effects == Effects::staged);
  CHECK_FALSE(kernel.starts_from_settled());
  CHECK(kernel.retry.attempts == 4);
  CHECK(kernel.timeout == 3s);
  CHECK(fragment.codes[fragment.kind(1).code] == detail::publisher());

  SECTION("the graph goes on after it was sealed") {
    graph.task("e", twice, b).effects(staged);
    const detail::Fragment& more = *graph.builder().seal();
    CHECK(more.size() == 8);
    CHECK(graph.size() == 5);
    CHECK(more.in_edges(1)[0].task() == 5);
    CHECK(more.in_edges(4)[0].task() == 7);
    CHECK(check(more));
  }
  static_cast<void>(c);
}

TEST_CASE("staging: literals, conditions and handles of actors go with the kernel") {
  Graph graph("staging");
  auto counter = graph.actor<Counter>("counter");
  const auto a = graph.task("a", one);
  const auto b = graph.task(
      "b", [](Actor<Counter>, int x, int y) { return x + y; }, counter, 3, a);
  b.effects(staged);
  const auto c = graph.task("c", twice, 7);
  c.only_if(b, [](int x) { return x > 0; });
  const detail::Fragment& fragment = *graph.builder().seal();
  REQUIRE(check(fragment));
  const std::uint32_t kernel = fragment.size() - 1;
  CHECK(fragment.name(kernel) == "b");
  CHECK(fragment.arguments_of(kernel).size() == 3);
  CHECK(detail::from_blob<int>(fragment.literal(kernel, fragment.arguments_of(kernel)[1])) == 3);
  CHECK(fragment.mentions == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{kernel, 0}});
  CHECK(detail::from_blob<int>(fragment.literal(3, fragment.arguments_of(3)[0])) == 7);
  REQUIRE(fragment.conditions.size() == 1);
  CHECK(fragment.conditions[0].edge == fragment.first_edge[3]);
}

TEST_CASE("staging: calls and families are refused") {
  Graph graph("staging");
  SECTION("a call") {
    graph.actor<Counter>("counter").call<&Counter::add>(1).effects(staged);
    const Status status = check(*graph.builder().seal());
    REQUIRE_FALSE(status);
    CHECK_THAT(status.error().what, Catch::EndsWith("add#1 is a call of a job actor, and stages files"));
  }
  SECTION("a family") {
    graph.family("f", Range{2, 3}, [](Point) { return 1; }, {}).effects(staged);
    const Status status = check(*graph.builder().seal());
    REQUIRE_FALSE(status);
    CHECK(status.error().what == "task f#0 is of a family, and stages files");
  }
}

TEST_CASE("staging: files and the value come out as they went in") {
  const std::string text = "12345678901234567890";
  const std::vector<detail::StagedFile> files{{"/a/b", detail::to_blob(std::uint64_t{7})},
                                              {"/c", Blob(std::as_bytes(std::span(text)))},
                                              {"/empty", Blob(std::span<const std::byte>())}};
  const Blob given =
      GENERATE(Blob(), detail::to_blob(std::string("value")), Blob(std::span<const std::byte>()));
  const Blob packed = detail::pack(files, given);
  Blob value;
  const auto got = detail::unpack(packed, value);
  CHECK(static_cast<bool>(value) == static_cast<bool>(given));
  CHECK(std::equal(value.bytes().begin(), value.bytes().end(), given.bytes().begin(), given.bytes().end()));
  REQUIRE(got.size() == files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    CHECK(got[i].path == files[i].path);
    CHECK(std::equal(got[i].bytes.bytes().begin(), got[i].bytes.bytes().end(), files[i].bytes.bytes().begin(),
                     files[i].bytes.bytes().end()));
  }
  for (std::size_t size = 0; size < packed.size_bytes(); ++size)
    CHECK_THROWS_AS(detail::unpack(Blob(packed.bytes().first(size)), value), Failure);
}
