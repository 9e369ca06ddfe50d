// News that lanes of two shards may tell each other, and a lane's use of news that does not fit.
#include "libdag/job/edge_news.hpp"

#include <catch2/catch.hpp>

#include "dag/graph.hpp"

using namespace dag;

namespace {

constexpr Epoch first_epoch{1, 1};
constexpr Life here{ProcessId{0}, Incarnation{1}}, there{ProcessId{1}, Incarnation{1}};

/// "first" and "second" are of shard 0; "sum", which reads both, and "alone" of shard 1.
struct TwoShards {
  TwoShards() {
    Graph graph("two shards");
    auto first = graph.task("first", [] { return 20; });
    auto second = graph.task("second", [] { return 22; });
    graph.task(
        "sum", [](int a, int b) { return a + b; }, first, second);
    auto alone = graph.task("alone", [] { return 1; });
    graph.task("if", [] { return 2; }).only_if(alone, [](int value) { return value > 0; });
    fragment = std::make_shared<const detail::Fragment>(graph.builder().sealed());
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      RowTable& table = tables[shard];
      table.routes() = {JobId{7}, shard, first_epoch, shard == 0 ? here : there, {}};
      table.routes().to = {{here, first_epoch, Way::memory}, {there, first_epoch, Way::memory}};
      const Sharding sharding{shard_of, shard};
      table.add(fragment, make_program(*fragment, &sharding), {});
    }
  }
  /// A row of shard 0 ends; what is told of it.
  std::vector<EdgeNews> end(std::uint32_t task, const Blob& output, bool room = true) {
    std::vector<EdgeNews> told;
    tell_others(tables[0], tables[0].find({0, task}), 1, output, [&](const Route&, EdgeNews&& news) {
      if (room) told.push_back(std::move(news));
      return room;
    });
    return told;
  }
  Arrival arrive(EdgeNews news) {
    RowIndex ghost = no_row;
    return end_ghost(
        tables[1], news, ghost, [&](RowIndex row) { ready.push_back(row); }, [](RowIndex) {});
  }
  Row& row(std::uint32_t shard, std::uint32_t task) { return tables[shard][tables[shard].find({0, task})]; }
  Word word(std::uint32_t shard, std::uint32_t task) {
    return tables[shard].word(tables[shard].find({0, task}));
  }

  const std::vector<ShardIndex> shard_of{0, 0, 1, 0, 1};
  std::shared_ptr<const detail::Fragment> fragment;
  RowTable tables[2];
  std::vector<RowIndex> ready;
};

}  // namespace

TEST_CASE("news of an end makes the row ready that waits for it, with its input there") {
  TwoShards job;
  const RowIndex sum = job.tables[1].find({0, 2});
  for (std::uint32_t task : {0u, 1u}) {
    REQUIRE(job.ready.empty());
    std::vector<EdgeNews> told = job.end(task, detail::to_blob(20 + static_cast<int>(task)));
    REQUIRE(told.size() == 1);
    CHECK(job.row(0, task).told);
    CHECK(job.arrive(told[0]) == Arrival::ended);
    CHECK(job.arrive(told[0]) == Arrival::for_home);  // Once.
  }
  CHECK(job.ready == std::vector{sum});
  std::vector<Blob> blobs;
  std::vector<detail::ArgumentView> views;
  std::uint32_t missing = 0;
  REQUIRE(job.tables[1].gather_inputs(sum, blobs, views, missing));
  CHECK(detail::from_blob<int>(blobs[1]) == 21);
  CHECK(job.word(1, 0).attempt == 1);
}

TEST_CASE("a lane does not end what its home has taken back") {
  TwoShards job;
  job.row(1, 0).told_by_home = true;
  CHECK(job.arrive(job.end(0, detail::to_blob(20)).at(0)) == Arrival::for_home);
  CHECK(job.word(1, 0).state == RowState::waiting);
}

TEST_CASE("who cannot be told by a lane is left to the home") {
  TwoShards job;
  const Blob small = detail::to_blob(1);
  SECTION("no room") { CHECK(job.end(0, small, false).empty()); }
  SECTION("the way is closed") {
    job.tables[0].routes().to[1].way = Way::closed;
    CHECK(job.end(0, small).empty());
  }
  SECTION("it started anew") {
    job.row(0, 0).told_by_home = true;
    CHECK(job.end(0, small).empty());
  }
  CHECK_FALSE(job.row(0, 0).told);
}

TEST_CASE("in the words of homes, news have a digest of what is small, and name who has what is not there") {
  TwoShards job;
  const Blob small = detail::to_blob(1), large = Blob::make(digest_at_once_bytes_max + 1, [](std::byte*) {});
  const message::PredecessorEnded of_small = as_message(job.end(0, small).at(0));
  CHECK(of_small.record.digest == digest_of(small));
  CHECK(of_small.record.value.same_bytes(small));
  CHECK(of_small.change == 0);
  EdgeNews news = job.end(1, large).at(0);
  CHECK(as_message(news).record.digest == 0);
  news.value = {};
  const message::PredecessorEnded absent = as_message_without(news, large.size_bytes(), here);
  CHECK(absent.record.has_output);
  CHECK(absent.record.size_bytes == large.size_bytes());
  CHECK_FALSE(absent.record.value);
  CHECK(absent.holders == std::vector{here});
}

TEST_CASE("what a lane tells by link is known for that, and what homes say is not") {
  TwoShards job;
  const EdgeNews news = job.end(0, detail::to_blob(7)).at(0);
  message::PredecessorEnded message = as_message(news, 0);
  CHECK(message.record.digest == 0);
  const std::optional<EdgeNews> again = told_by_lane(message);
  REQUIRE(again);
  CHECK(again->value.same_bytes(news.value));
  CHECK(job.arrive(*again) == Arrival::ended);

  const auto refused = [&](auto&& change) {
    message::PredecessorEnded other = as_message(news);
    change(other);
    return !told_by_lane(other);
  };
  CHECK(refused([](auto& said) { said.change = 1; }));
  CHECK(refused([](auto& said) { said.record.value = {}; }));
  CHECK(refused([](auto& said) { said.record.outcome = Outcome::failed; }));
  CHECK(refused([](auto& said) { said.record.task.origin = 1; }));
  CHECK(refused([](auto& said) { said.record.attempt.epoch.count = 2; }));
}

TEST_CASE(
    "news of another epoch are for the home, news that nobody means are false, and neither changes a row") {
  TwoShards job;
  const EdgeNews right = job.end(0, detail::to_blob(1)).at(0);
  const auto with = [&](auto&& change) {
    EdgeNews news = right;
    change(news);
    return job.arrive(news);
  };
  CHECK(with([](EdgeNews& news) { news.epoch.count = 2; }) == Arrival::for_home);
  CHECK(with([](EdgeNews& news) { news.from_epoch.count = 2; }) == Arrival::for_home);
  CHECK(with([](EdgeNews& news) { news.from = 2; }) == Arrival::false_news);
  CHECK(with([](EdgeNews& news) { news.from = 1; }) == Arrival::false_news);  // Not whose row it is.
  CHECK(with([](EdgeNews& news) { news.task = 5; }) == Arrival::false_news);
  CHECK(with([](EdgeNews& news) { news.task = 2; }) == Arrival::false_news);  // A row of the reader's own.
  CHECK(with([](EdgeNews& news) { news.task = 3; }) == Arrival::false_news);  // Its end has a condition.
  CHECK(with([](EdgeNews& news) { news.attempt = 0; }) == Arrival::false_news);
  CHECK(with([](EdgeNews& news) { news.attempt = Word::attempt_max + 1; }) == Arrival::false_news);
  CHECK(with([](EdgeNews& news) { news.value = {}; }) == Arrival::false_news);
  CHECK(job.word(1, 0).state == RowState::waiting);
  CHECK_FALSE(job.row(1, 0).output.load());
  CHECK(job.arrive(right) == Arrival::ended);
}

TEST_CASE("the home that hears of an end first satisfies its edges, and the lane nothing") {
  TwoShards job;
  const EdgeNews news = job.end(0, detail::to_blob(1)).at(0);
  const RowIndex ghost = job.tables[1].find({0, 0});
  CHECK(job.tables[1].apply(ghost, EndLearnt{Outcome::failed}).what == Do::tell);
  const Word before = job.word(1, 2);
  CHECK(job.arrive(news) == Arrival::for_home);
  CHECK(job.word(1, 2) == before);
  CHECK(job.word(1, 0).outcome == Outcome::failed);
}
