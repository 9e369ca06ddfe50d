// Messages of a job that are refused: a receiver would follow them out of its arrays, or into code that is
// not there.
#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include "libdag/base/random.hpp"
#include "tests/support/samples.hpp"

using namespace dag;
using namespace dag::wire;

namespace {

constexpr std::size_t limit = limits::control_frame_bytes_max;

/// As an honest process would never say it, and as it arrives.
Result<Envelope> said(JobMessage message, const CodeMap& codes = samples::codes()) {
  const auto frame = encode(samples::envelope_of({std::move(message)}), limit, codes);
  if (!frame) return frame.error();
  return decode(frame->bytes(), limit, samples::codes());
}

std::string why(const Result<Envelope>& result) { return result ? "nothing is wrong" : result.error().what; }

message::Lend lend() { return {JobId{77}, 1, {1, 3}, samples::lent_attempt(), {}}; }

message::JobCreate create(auto change) {
  auto graph = std::make_shared<detail::Fragment>(*samples::graph());
  auto plan = std::make_shared<JobPlan>();
  plan->shard_of.assign(graph->size(), 0);
  change(*plan, *graph);
  plan->graph = graph;
  return {plan};
}

}  // namespace

TEST_CASE("a graph is whole when it arrives") {
  const auto back = said(create([](JobPlan&, detail::Fragment&) {}));
  REQUIRE(back);
  const auto& message = std::get<message::JobCreate>(std::get<JobMessage>(back->operations[0]));
  const auto whole = samples::graph();
  const detail::Fragment &got = *message.plan->graph, &sent = *whole;
  CHECK(got.task_kinds == sent.task_kinds);
  CHECK(got.kinds == sent.kinds);
  CHECK(got.first_edge == sent.first_edge);
  CHECK(got.edges == sent.edges);
  CHECK(got.conditions == sent.conditions);
  CHECK(got.first_literal == sent.first_literal);
  CHECK(got.task_literals == sent.task_literals);
  CHECK(got.arguments == sent.arguments);
  CHECK(got.codes == sent.codes);
  CHECK(got.names == sent.names);
  CHECK(got.policies == sent.policies);
  CHECK(got.actors == sent.actors);
  CHECK(got.mentions == sent.mentions);
  CHECK(got.save_groups == sent.save_groups);
  CHECK(got.families == sent.families);
  CHECK(got.groups == sent.groups);
  REQUIRE(got.literals.size() == sent.literals.size());
  for (std::size_t i = 0; i < got.literals.size(); ++i) CHECK(got.literals[i].same_bytes(sent.literals[i]));
}

TEST_CASE("a graph of nothing but tasks and edges is taken, however large") {
  const std::uint32_t tasks = GENERATE(10u, 1000u, 10'000u);
  const auto back = said(create([&](JobPlan& plan, detail::Fragment& graph) {
    detail::Builder builder;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      builder.add_task("t", {graph.codes[0]}, true, Effects::pure);
      for (std::uint32_t before = 1; before <= 3 && before <= task; ++before) {
        builder.add_edge(task - before, task, detail::EdgeKind::strong);
      }
    }
    graph = builder.sealed();
    plan.shard_of.assign(tasks, 0);
  }));
  REQUIRE(back);
  const auto& message = std::get<message::JobCreate>(std::get<JobMessage>(back->operations[0]));
  CHECK(message.plan->graph->size() == tasks);
}

TEST_CASE("a graph whose indices lead nowhere is refused") {
  CHECK_THAT(why(said(create([](JobPlan&, detail::Fragment& graph) { graph.kinds[0].code = 9; }))),
             Catch::Contains("the code of kind 0"));
  CHECK_THAT(why(said(create([](JobPlan&, detail::Fragment& graph) {
               graph.edges[0] = {9, {}};
             }))),
             Catch::Contains("an edge of task 1"));
  CHECK_THAT(why(said(create([](JobPlan& plan, detail::Fragment&) { plan.shard_of[1] = 1; }))),
             Catch::Contains("a shard that there is not"));
  CHECK_THAT(
      why(said(create([](JobPlan& plan, detail::Fragment&) { plan.shards = limits::shards_max + 1; }))),
      Catch::Contains("JobCreate.shards"));
  CHECK_THAT(why(said(create([](JobPlan& plan, detail::Fragment&) { plan.shard_of = {0}; }))),
             Catch::Contains("1 entries for 7 tasks"));
  message::Ended ended{JobId{1}, 0, {}, samples::full_record(), {}};
  ended.record.becomes = 7;
  CHECK_THAT(why(said(ended)), Catch::Contains("becomes"));
  ended.record.spawned = nullptr;
  CHECK_THAT(why(said(ended)), Catch::Contains("becomes"));
}

TEST_CASE("a family travels as its formula, and is the same tasks again") {
  const auto frame_bytes = [](Range range) {
    Graph graph("family");
    const auto first = graph.task("first", [] { return 1.0; });
    const auto source = graph.family(
        "source", range, [](Point, int x) { return double(x); }, {}, 7);
    graph.task(
        "between", [](double x) { return x; }, source.at(0, 0));
    const auto cells = graph.family(
        "cell", range,
        [](Point, std::vector<double> before, double by, double x) { return by * x + double(before.size()); },
        {{-1, -1}, {-1, 0}, {-1, 1}}, first, source);
    graph.family("alone", Range{3}, [](Point at) { return int(at.row); }, {{-1, 0}}).at(2).after(first);
    graph.task(
        "last", [](double x, int y) { return x * y; }, cells.at(range.rows - 1, 0), 5);
    const CodeMap& codes = CodeMap::of_this_process();
    const auto sent = graph.builder().seal();
    const auto frame = encode(samples::envelope_of({client::AskSubmit{2, JobId{1}, "family", sent,
                                                                      samples::launch(), false, false}}),
                              limit, codes);
    REQUIRE(frame);
    const auto back = decode(frame->bytes(), limit, codes);
    REQUIRE(back);
    const auto got = std::get<client::AskSubmit>(std::get<ClientMessage>(back->operations[0])).graph;
    CHECK(got->task_kinds == sent->task_kinds);
    CHECK(got->first_edge == sent->first_edge);
    CHECK(got->edges == sent->edges);
    CHECK(got->first_literal == sent->first_literal);
    CHECK(got->task_literals == sent->task_literals);
    CHECK(got->families == sent->families);
    return frame->size_bytes();
  };
  const std::size_t small = frame_bytes({3, 4});
  CHECK(frame_bytes({500, 40}) == small);
}

TEST_CASE("a damaged family is refused before it takes memory") {
  const auto damaged = [](auto change) {
    return why(said(create([&](JobPlan&, detail::Fragment& graph) { change(graph.families[0]); })));
  };
  CHECK_THAT(damaged([](auto& family) {
               family.range = {1'000'000'000, 1};
             }),
             Catch::Contains("too many tasks"));
  CHECK_THAT(damaged([](auto& family) {
               family.range = {0xFFFFFFFF, 0xFFFFFFFF};
             }),
             Catch::Contains("too many tasks"));
  CHECK_THAT(damaged([](auto& family) { family.range = {0, 1}; }), Catch::Contains("empty"));
  CHECK_THAT(damaged([](auto& family) { family.before = {{0, 0}}; }), Catch::Contains("behind it"));
  CHECK_THAT(damaged([](auto& family) {
               family.before.resize(1000, {-1, 0});
             }),
             Catch::Contains("Family.before"));
  CHECK_THAT(damaged([](auto& family) { family.inputs = {{3, false}}; }), Catch::Contains("not before it"));
  CHECK_THAT(damaged([](auto& family) { family.inputs = {{1, true}}; }), Catch::Contains("not before it"));
  CHECK_THAT(damaged([](auto& family) { family.kinds = {3}; }), Catch::Contains("no kind"));
  CHECK_THAT(damaged([](auto& family) { family.kinds = {3, 9}; }), Catch::Contains("the kind"));
  CHECK_THAT(damaged([](auto& family) { family.literals = {7}; }), Catch::Contains("literal"));
  CHECK_THAT(damaged([](auto& family) { family.literals.resize(1000, 1); }),
             Catch::Contains("Family.literals"));
  CHECK_THAT(damaged([](auto& family) { family.first_task = 5; }), Catch::Contains("where families lie"));
  CHECK_THAT(why(said(create([&](JobPlan&, detail::Fragment& graph) {
               graph.families[1].range = {2, 1};
             }))),
             Catch::Contains("where families lie"));
}

TEST_CASE("an attempt gets as many blobs as its arguments take, and an absent one stays absent") {
  const auto back = said(lend());
  REQUIRE(back);
  const auto& got = std::get<message::Lend>(std::get<JobMessage>(back->operations[0])).attempt;
  REQUIRE(got.blobs.size() == 3);
  CHECK(got.blobs[0].same_bytes(samples::blob("one")));
  CHECK_FALSE(got.blobs[1]);
  CHECK(got.blobs[2]);
  CHECK(got.blobs[2].size_bytes() == 0);

  auto few = lend();
  few.attempt.blobs.pop_back();
  CHECK_THAT(why(said(few)), Catch::Contains("2 blobs for arguments of 3"));
  auto many = lend();
  many.attempt.counts = {0xFFFFFFFF, 0xFFFFFFFF};
  CHECK_FALSE(said(many));
  auto nowhere = lend();
  nowhere.wanted = {{3, samples::output(1), 0, {}}};
  CHECK_THAT(why(said(nowhere)), Catch::Contains("names a blob that there is not"));
}

TEST_CASE("an attempt with many inputs that lie elsewhere is read, however many they are") {
  for (const std::uint32_t count : {1u, 60u, 2'000u}) {
    auto many = lend();
    many.attempt.counts = {count};
    many.attempt.blobs.assign(count, Blob{});
    many.attempt.inputs.clear();
    many.wanted.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      many.attempt.inputs.push_back(samples::output(i));
      many.wanted.push_back({i, samples::output(i), 0, {samples::life(2), samples::life(3)}});
    }
    const auto back = said(many);
    INFO(count << " inputs");
    REQUIRE(back);
    CHECK(std::get<message::Lend>(std::get<JobMessage>(back->operations[0])).wanted.size() == count);
  }
}

TEST_CASE("a job actor may be restored from a state that lies elsewhere, and only its making may") {
  auto restored = lend();
  restored.attempt.call = detail::CallKind::create;
  restored.attempt.restore_from = {};
  restored.wanted = {{detail::none, samples::output(1), 0, {samples::life(2)}}};
  const auto back = said(restored);
  REQUIRE(back);
  const auto& got = std::get<message::Lend>(std::get<JobMessage>(back->operations[0]));
  REQUIRE(got.wanted.size() == 1);
  CHECK(got.wanted[0].position == detail::none);
  CHECK(got.wanted[0].name == samples::output(1));
  CHECK_FALSE(got.attempt.restore_from);
  restored.attempt.call = detail::CallKind::call;
  CHECK_THAT(why(said(restored)), Catch::Contains("names a blob that there is not"));
}

TEST_CASE("code is found again in another process, and nowhere else") {
  // The same modules, loaded elsewhere.
  const CodeMap there({{0x7000'0000, 0x10'0000}, {0x9000'0000, 0x8'0000}});
  const Blob frame = *encode(samples::envelope_of({lend()}), limit, samples::codes());
  const auto back = decode(frame.bytes(), limit, there);
  REQUIRE(back);
  const auto& code = std::get<message::Lend>(std::get<JobMessage>(back->operations[0])).attempt.code;
  CHECK(code.thunk == reinterpret_cast<const void*>(0x7000'0010));
  CHECK(code.function == reinterpret_cast<const void*>(0x9000'0010));

  CHECK_THAT(decode(frame.bytes(), limit, CodeMap({{0x7000'0000, 0x10'0000}})).error().what,
             Catch::Contains("code lies where this process has none"));
  CHECK_THAT(
      decode(frame.bytes(), limit, CodeMap({{0x7000'0000, 0x10}, {0x9000'0000, 0x8'0000}})).error().what,
      Catch::Contains("code lies where this process has none"));
  const auto foreign = encode(samples::envelope_of({lend()}), limit, CodeMap({{0x10'0000, 0x10'0000}}));
  REQUIRE_FALSE(foreign);
  CHECK_THAT(foreign.error().what, Catch::Contains("lies outside of the program"));
}

namespace {
void some_kernel() {}
}  // namespace

TEST_CASE("this process knows its own code, and not a library's") {
  const CodeMap& codes = CodeMap::of_this_process();
  const void* mine = reinterpret_cast<const void*>(&some_kernel);
  const auto place = codes.place_of(mine);
  REQUIRE(place);
  CHECK(place->module == 1);
  CHECK(*codes.code_at(*place) == mine);
  CHECK(*codes.place_of(nullptr) == CodePlace{});
  CHECK(*codes.code_at({}) == nullptr);
  int on_the_stack = 0;
  CHECK_FALSE(codes.place_of(&on_the_stack));
  CHECK_FALSE(codes.code_at({0, 1}));
  CHECK_FALSE(codes.code_at({9, 0}));
  CHECK_FALSE(codes.code_at({1, ~std::uint64_t{0}}));
}

TEST_CASE("what a kernel threw is cut, not refused") {
  message::JobFailed failed{JobId{1}, 0, {}, {ErrorCode::task_failed, std::string(1 << 20, 'x'), {}, {}}};
  const auto back = said(failed);
  REQUIRE(back);
  CHECK(std::get<message::JobFailed>(std::get<JobMessage>(back->operations[0])).error.what.size() ==
        error_text_bytes_max);
}

TEST_CASE("the steps of a cut divide its lists, or it is refused") {
  message::Outcomes outcomes;
  outcomes.job = JobId{1};
  outcomes.number = 1;
  outcomes.first_try = {{{0, 0}, 1}, {{0, 64}, 3}};
  outcomes.needs = {{{0, 9}, {{1, 1}, 2}}};
  const auto refused = [&] {
    const Blob frame = *encode(samples::envelope_of({JobMessage{outcomes}}), limit, samples::codes());
    return !decode(frame.bytes(), limit, samples::codes());
  };
  CHECK_FALSE(refused());  // A single step.
  outcomes.steps = {{1, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 1, 2}};
  CHECK_FALSE(refused());
  outcomes.steps[1].first_try = 1;  // Something is left over.
  CHECK(refused());
  outcomes.steps[1].first_try = 3;  // More than there is.
  CHECK(refused());
  outcomes.steps[1].first_try = 2;
  outcomes.steps[0].needs = 2;  // Back again.
  CHECK(refused());
}

TEST_CASE("much cannot be made of little: a list of small things is not read as one of large things") {
  // Outcomes.plain and Outcomes.records, made to point to the same list; and a count that no honest frame
  // could have.
  Random random(3);
  message::Outcomes outcomes;
  outcomes.job = JobId{1};
  outcomes.number = 1;
  outcomes.plain.resize(2000);
  const Blob frame = *encode(samples::envelope_of({JobMessage{outcomes}}), limit, samples::codes());
  std::vector<std::byte> bytes(frame.bytes().begin(), frame.bytes().end());
  // Any word may become any pointer to the long list; what comes of it stays small.
  for (int round = 0; round < 20'000; ++round) {
    auto mutated = bytes;
    const std::size_t from = random.below(50) * 8, to = random.below(50) * 8;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), 8,
                mutated.begin() + static_cast<std::ptrdiff_t>(to));
    const auto result = decode(mutated, limit, samples::codes());
    if (!result || result->operations.empty()) continue;
    const auto* message = std::get_if<JobMessage>(&result->operations[0]);
    if (message == nullptr) continue;
    if (const auto* got = std::get_if<message::Outcomes>(message)) {
      CHECK(got->first_try.size() + got->plain.size() + got->records.size() <= frame.size_bytes() / 8);
    }
  }
}
