#include "tests/support/samples.hpp"

namespace dag::wire::samples {

Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{process + 10}}; }

std::vector<Claim> claims() {
  Claim first;
  first.life = life(1);
  first.state = MemberState::suspect;
  first.beat = 77;
  first.endpoint = {"127.0.0.1:4000", "127.0.0.1:4001", "127.0.0.1:4002"};
  first.load.tasks_ready = 12;
  first.load.disk = 0x1122'3344'5566'7788;
  first.load.disk_full = true;
  first.load.devices = {{"cpu", 8, 3, 64ull << 30, 17ull << 30, std::chrono::microseconds(1500)},
                        {"cuda", 1, 0, 24ull << 30, 1ull << 30, std::chrono::seconds(2)}};
  Claim second;
  second.life = life(2);
  second.state = MemberState::left;
  second.load.draining = true;
  second.load.disk_stuck = true;
  second.load.sick = true;
  second.load.witness = true;
  return {first, second};
}

static void add_handshake(std::vector<Sample>& all) {
  all.push_back(
      {"hello", Handshake{link::Hello{
                    ClusterId{0xC0FFEE}, {1, 3}, life(1), "4f1de2", "127.0.0.1:4000", "127.0.0.1:4001"}}});
  all.push_back({"welcome", Handshake{link::Welcome{ClusterId{0xC0FFEE}, 2, life(2), "4f1de2", "[::1]:4000",
                                                    "[::1]:4001"}}});
  all.push_back({"hello_refused", Handshake{link::HelloRefused{
                                      life(2), 107, "n1.11 runs build a, n2.12 runs build b", "one file"}}});
}

static void add_membership(std::vector<Sample>& all) {
  using namespace membership;
  all.push_back({"ping", MembershipMessage{Ping{5, claims()}}});
  all.push_back({"ack", MembershipMessage{Ack{5, claims()}}});
  all.push_back({"ping_request", MembershipMessage{PingRequest{6, life(3), claims()}}});
  all.push_back({"nack", MembershipMessage{Nack{6, {}}}});
  all.push_back({"gossip", MembershipMessage{Gossip{claims()}}});
  all.push_back({"join", MembershipMessage{membership::Join{"node7:7117", claims()}}});
  all.push_back({"member_welcome", MembershipMessage{membership::Welcome{"node7:7117", claims()}}});
  all.push_back({"obituary", MembershipMessage{Obituary{claims()[0], 4, {claims()[1]}}}});
}

static detail::Code code(std::uintptr_t place) {
  return {reinterpret_cast<const void*>(0x10'0000 + place), reinterpret_cast<const void*>(0x40'0000 + place)};
}

Blob blob(std::string_view text) { return Blob(std::as_bytes(std::span(text))); }
AttemptId attempt(std::uint32_t number) { return {{1, 3}, number}; }
OutputName output(std::uint32_t index) { return {{0, index}, attempt(index + 7)}; }
TaskId spawned_task(std::uint32_t index) { return {3, index}; }

std::shared_ptr<const detail::Fragment> graph() {
  using namespace detail;
  auto graph = std::make_shared<Fragment>();
  graph->codes = {code(0x10), {reinterpret_cast<const void*>(0x10'0020), nullptr}};
  graph->names = {"read", "train", ""};
  graph->literals = {blob("corpus.txt"), blob("")};
  Policy policy;
  policy.needs = {2.5, 1, 8ull << 30};
  policy.retry = {3, std::chrono::seconds(2)};
  policy.priority = Priority::high;
  policy.effects = Effects::idempotent;
  policy.join = Join::none_failed;
  policy.timeout = std::chrono::minutes(1);
  policy.deadline = std::chrono::minutes(10);
  policy.takes = std::chrono::milliseconds(250);
  policy.checkpoint = std::chrono::seconds(30);
  policy.varying = true;
  policy.keep = true;
  policy.publishes = true;
  policy.group = 0;
  graph->policies = {Policy{}, policy};
  graph->kinds = {
      {.code = 0, .name = 0, .policy = 0, .first_argument = 0, .argument_count = 1, .returns = true},
      {.code = 0, .name = 1, .policy = 1, .first_argument = 1, .argument_count = 2, .returns = true},
      {.code = 0,
       .name = 2,
       .policy = 0,
       .first_argument = 3,
       .argument_count = 1,
       .call = CallKind::create,
       .actor = 0},
      {.code = 0, .name = 0, .policy = 0, .first_argument = 4, .argument_count = 2, .returns = true}};
  // The last four are families: three tasks behind each other, and one of which something was said alone.
  graph->families = {{.first_task = 3,
                      .range = {3, 1},
                      .before = {{-1, 0}},
                      .inputs = {{1, false}, {0, true}},
                      .literals = {1},
                      .kinds = {3, 3},
                      .written_out = false},
                     {.first_task = 6,
                      .range = {1, 1},
                      .before = {},
                      .inputs = {},
                      .literals = {0},
                      .kinds = {3},
                      .written_out = true}};
  graph->task_kinds = {0, 1, 2, 3, 3, 3, 3};
  graph->first_edge = {0, 0, 3, 4, 6, 9, 12, 12};
  graph->edges = {{0, EdgeKind::conditional}, {0, EdgeKind::strong}, {0, EdgeKind::strong},
                  {1, EdgeKind::weak},        {1, EdgeKind::strong}, {0, EdgeKind::strong},
                  {3, EdgeKind::strong},      {1, EdgeKind::strong}, {1, EdgeKind::strong},
                  {4, EdgeKind::strong},      {1, EdgeKind::strong}, {2, EdgeKind::strong}};
  graph->conditions = {{0, 1}};
  graph->first_literal = {0, 1, 2, 2, 3, 4, 5, 6};
  graph->task_literals = {0, 1, 1, 1, 1, 0};
  graph->arguments = {{ArgumentKind::literal, 0, 1, 0}, {ArgumentKind::gather, 1, 2, 0},
                      {ArgumentKind::literal, 0, 1, 0}, {ArgumentKind::quorum, 0, 1, 1},
                      {ArgumentKind::point, 0, 1, 0},   {ArgumentKind::literal, 0, 1, 0}};
  graph->actors = {
      {.name = 1, .create_task = 2, .save = code(0x30), .restore = code(0x40), .destroy = code(0x60)}};
  graph->mentions = {{1, 0}};
  graph->save_groups = {{0}, {}};
  graph->groups = {
      {.name = 2, .strategy = Strategy::one_for_all, .intensity = {5, std::chrono::seconds(90)}}};
  graph->total = 1'000;
  return graph;
}

Error error() { return {ErrorCode::task_failed, "it threw", "look at its log", "the disk is full"}; }

static OutcomeRecord plain_record() {
  OutcomeRecord record;
  record.task = {0, 5};
  record.attempt = attempt(9);
  record.outcome = Outcome::finished;
  record.digest = 0xD16E57;
  record.size_bytes = 8;
  record.has_output = true;
  record.value = blob("8 bytes!");
  return record;
}
OutcomeRecord full_record() {
  OutcomeRecord record = plain_record();
  record.outcome = Outcome::none;
  record.inputs = {output(1), output(2)};
  record.value = {};
  record.conditions = {true, false, true};
  record.grew = true;
  record.spawned = graph();
  record.first_spawned = spawned_task(40);
  record.becomes = 1;
  record.literals_above = {{1, 7}};
  record.error = error();
  record.tries = 3;
  record.tolerated = true;
  record.digest_follows = true;
  return record;
}

Attempt lent_attempt() {
  Attempt lent;
  lent.job = JobId{77};
  lent.task = {0, 5};
  lent.id = attempt(9);
  lent.attempt_number = 2;
  lent.name = "train";
  lent.code = code(0x10);
  lent.returns = true;
  lent.counts = {1, 2};
  lent.blobs = {blob("one"), {}, blob("")};
  lent.inputs = {output(1), output(2)};
  lent.stands_for = attempt(4);
  lent.predicates = {code(0x50)};
  lent.timeout = std::chrono::seconds(3);
  lent.may_overlap = true;
  lent.last_try = true;
  lent.call = detail::CallKind::call;
  lent.actor = 0;
  lent.generation = attempt(2);
  lent.actor_code = graph()->actors[0];
  lent.restore_from = blob("state");
  return lent;
}

static void add_job(std::vector<Sample>& all) {
  using namespace message;
  const auto add = [&all](std::string name, JobMessage message) {
    all.push_back({std::move(name), std::move(message)});
  };
  const JobId job{77};
  const Epoch epoch{1, 3};
  auto plan = std::make_shared<JobPlan>();
  plan->job = job;
  plan->name = "train-eval";
  plan->graph = graph();
  plan->shard_of = {0, 1, 1, 0, 1, 0, 1};
  plan->shards = 2;
  plan->representation = Representation::supervised;
  plan->inline_bytes_max = 100;
  plan->seed = 41;
  plan->quarantine = true;
  add("job_create", JobCreate{plan});
  add("job_state", JobState{job,
                            6,
                            {life(1), life(2)},
                            {{life(1), epoch}, {life(2), {1, 4}}},
                            life(1),
                            3,
                            5,
                            true,
                            true,
                            error(),
                            {life(1)},
                            {{{0, 3}, 1, "signal 11"}, {{2, 9}, 4, ""}},
                            {{{0, 7}, 2, "signal 9"}}});
  add("assign", Assign{job,
                       1,
                       epoch,
                       {life(1), life(2)},
                       {plain_record(), full_record()},
                       {output(3)},
                       {{0, 8}},
                       {{{0, 4}, 2}},
                       {{{1, 1}, {{{0, 0}, 6}}}, {epoch, {{{0, 64}, 1}, {{0, 128}, 9}}}},
                       {{0, 5}, {1, 6}}});
  add("settled", Settled{job, 1, epoch, 10, 12, 4, 9, {plain_record()}});
  add("keep", Keep{job, 1, epoch, {{0, 8}, {2, 9}}});
  add("cancel", Cancel{job, 1, epoch, {}});
  add("outcomes", Outcomes{job,
                           1,
                           epoch,
                           5,
                           17,
                           {{1, 1, 0, 1, 0, 3}, {2, 2, 1, 1, 1, 3}},
                           {{{1, 2}, {{0, 0}, 5}}},
                           {output(3)},
                           {{{0, 64}, 0x8000000000000003}, {{2, 0}, 1}},
                           {output(1), output(2)},
                           {full_record()},
                           {{0, 8}},
                           1000,
                           {{{0, 4}, 1}, {{2, 9}, 3}},
                           {{0, 7}}});
  add("job_failed", JobFailed{job, 1, epoch, error()});
  add("renew_lease", RenewLease{job, 17});
  add("lease_renewed", LeaseRenewed{job, 17});
  add("ask_plan", AskPlan{job});
  add("lend", Lend{job, 1, epoch, lent_attempt(), {{1, output(2), 0, {life(2), life(3)}}}});
  Attempt restored = lent_attempt();
  restored.call = detail::CallKind::create;
  restored.restore_from = {};
  add("lend_restoring", Lend{job, 1, epoch, restored, {{detail::none, output(2), 0, {life(2)}}}, true});
  Attempt saving = lent_attempt();
  saving.restore_from = {};
  saving.exclusive = true;
  saving.stages = true;
  saving.alone = true;
  saving.checkpoints = {checkpoint_numbers + 3 * checkpoints_per_attempt, std::chrono::seconds(30),
                        std::chrono::hours(1)};
  add("lend_saving", Lend{job, 1, epoch, saving, {{detail::none, output(2), 1, {life(2)}}}});
  OutcomeRecord saved = plain_record();
  saved.attempt.number = checkpoint_numbers + 3 * checkpoints_per_attempt + 7;
  add("checkpointed", Checkpointed{job, 1, epoch, saved});
  add("stop", Stop{job, 1, epoch, output(2)});
  add("ended", message::Ended{job, 1, epoch, full_record(), std::chrono::milliseconds(17)});
  add("return", Return{job, 1, epoch, output(2), {output(1)}, "no room"});
  add("return_for_thief", Return{job, 1, epoch, output(2), {}, "asked for", life(3)});
  add("release", Release{job, 1, epoch, {output(1), output(2)}});
  add("replicate", Replicate{job, 1, epoch, plain_record(), {life(3)}, {2, 3, 12, 4}});
  add("holding", Holding{job, 1, epoch, output(2)});
  add("digested", Digested{job, 1, epoch, output(2), 0x1234567890ABCDEF});
  add("report", Report{job,
                       1,
                       epoch,
                       {{plain_record(), true}, {full_record(), false}},
                       {{output(4), {output(1)}}},
                       {{{0, 64}, 5}}});
  add("steal_request", StealRequest{job, 4});
  add("predecessor_ended",
      message::PredecessorEnded{job, 1, epoch, 2, {1, 5}, 99, plain_record(), {life(1)}});
  add("not_ended", NotEnded{job, 1, epoch, 2, {1, 5}, 100, {{{0, 64}, 0x8000000000000001}}});
  add("consumed", Consumed{job, 1, epoch, 2, {{{0, 64}, 9}}});
  add("need", Need{job, 1, epoch, output(2), {life(3)}});
  add("located", Located{job, 1, epoch, plain_record(), {life(2)}, error(), output(2)});
  add("fetch", Fetch{job, output(2)});
  add("data", Data{job, plain_record(), blob("bytes of an output"), output(2), 0});
  add("data_handed_over", Data{job, plain_record(), {}, output(2), 3});
  add("missing", Missing{job, output(2)});
}

Launch launch() {
  return {{0xD16E57, 0xB17E5, 5'000'000},  "4f1de2",
          {"bin/train", "", "--steps=10"}, "/home/ada/jobs",
          {"HOME=/home/ada", "EMPTY="},    {~std::uint64_t{0}, 1024},
          "/opt/lib:/home/ada/lib",        0x5E5510};
}
JobInfo job_info() {
  JobInfo job;
  job.job = JobId{(std::uint64_t{2} << 32) | 7};
  job.name = "train-eval";
  job.phase = JobPhase::failed;
  job.counts = {1, 20, 3, 4, 5, 2};
  job.age = std::chrono::seconds(75);
  job.workers = {{life(0x10002), ProcessId{2}, 4711, true, ""},
                 {life(0x20002), ProcessId{2}, 4712, false, "signal 11 (Segmentation fault)"}};
  job.error = error();
  job.details = JobDetails{{{TaskId{0, 41}, "load", Outcome::failed, 3, error(), {}},
                            {spawned_task(2), "", Outcome::finished, 0, {}, std::chrono::seconds(2)}},
                           17,
                           1,
                           {{"load", {1, 2, 3, 4, 5}}, {"train", {}}},
                           {5, 4, 3, 2, 1},
                           {{{0, 42}, "train", 2, "n1/w1/cpu0", 0.25, "loss 2.5"}}};
  job.total = 1000;
  job.retries = JobId{5};
  job.copies = {ProcessId{0}, ProcessId{2}, ProcessId{3}};
  return job;
}

static TaskExplained task_explained() {
  TaskExplained task;
  task.task = spawned_task(40);
  task.name = "train";
  task.state = RowState::held;
  task.attempt = attempt(9);
  task.why = "waits for its next attempt, in 2s";
  task.failures = 3;
  task.waits_for = {{0, 5}, {0, 7}};
  task.waits_for_all = 20;
  task.candidates = {{ProcessId{1}, Duration{5}, Duration{6}, Duration{7}, ""},
                     {ProcessId{2}, Duration{0}, Duration{0}, Duration{7}, "never: has no gpu"}};
  task.usual = RunEstimate{Duration{1'500'000}, Duration{1'000'000}, Duration{2'000'000}, 27};
  task.place = 5;
  task.needs = {2, 1, 20 << 20, {}};
  task.priority = Priority::high;
  task.error = error();
  return task;
}

static ProcessExplained process_explained() {
  TaskExplained ended;
  ended.task = {0, 41};
  ended.state = RowState::ended;
  ended.outcome = Outcome::skipped;
  return {life(0x10002),
          {task_explained(), ended},
          {1, 2, 3, 4, 5, 6},
          {ended},
          {{{0, 5}, attempt(9), 3, Duration{77}}},
          16,
          1'000,
          {{"train", 3, 1 << 20}, {"", 1, 7}},
          PathLeft{Duration{12'000'000'000}, 40, {0, 5}}};
}

static void add_client(std::vector<Sample>& all) {
  using namespace client;
  const auto add = [&all](std::string name, ClientMessage message) {
    all.push_back({std::move(name), std::move(message)});
  };
  const JobId job = job_info().job;
  const Claim known = claims()[0];
  JobInfo starting;
  starting.job = JobId{8};
  add("ask_handle", AskHandle{1});
  add("ask_submit", AskSubmit{2, job, "train-eval", graph(), launch(), true, true, 0xABCDEF, true, true});
  add("ask_nodes", AskNodes{3});
  add("ask_jobs", AskJobs{4, std::nullopt});
  add("ask_job", AskJobs{5, job});
  add("ask_job_list", AskJobs{6, std::nullopt, {"train", JobPhase::no_quorum, true, 20}});
  add("ask_end", AskEnd{6, job});
  add("ask_cancel", AskCancel{7, job});
  add("ask_shutdown", AskShutdown{8});
  add("answer",
      Answer{
          9,
          error(),
          job,
          true,
          "127.0.0.1:4006",
          {{known.life, known.state, known.endpoint, known.load, 3, 4710, {"n1 is draining", ""}, {}},
           {life(2), MemberState::left, {}, {}, 0, 0, {}, HeardOf{Duration(7'000'000), Duration(250'000)}}},
          {job_info(), starting},
          {process_explained(), {}},
          {life(2), life(3)},
          JournalPage{{12, 4096, 7}, blob("a file"), {"journal-12: 7 bytes cannot be read", ""}},
          17,
          {{41, "train"}, {7, ""}}});
  add("want", Want{job, 41});
  add("forget_job", ForgetJob{job});
  add("task_settled", TaskSettled{job, 41, Outcome::failed, blob("what it left"), error()});
  add("job_ended", JobEnded{job, error(), {0, 20, 3, 4, 5, 2}});
  add("job_lost", JobLost{job, error()});
  add("ask_follow", AskFollow{10, job, {41, 7, 1'000}, 0xABCDEF});
  add("ask_attach", AskFollow{10, job, {}, 0, true});
  add("ask_outputs", AskOutputs{11, job, "train"});
  add("ask_retry", AskRetry{11, job});
  add("ask_retry_unfinished", AskRetry{11, job, true});
  add("ask_drain", AskDrain{11, true});
  add("ask_explain", AskExplain{12, job, {"train", {{0, 5}, spawned_task(40)}}});
  add("ask_explain_range", AskExplain{13, job, {"", {}, true, TaskRange{"train", {0, 3}, 9}, true, true}});
  add("ask_journal", AskJournal{13, job, {12, 4096, 7}, true});
  add("ask_journal_of_tasks",
      AskJournal{13, job, {12, 4096, 7}, false, {"train", {}, false, TaskRange{"train", {0, 3}, 9}, true}});
  add("ask_history", AskJournal{14, std::nullopt, {}, false});
  add("job_moved", JobMoved{job});
}

static void add_keeper(std::vector<Sample>& all) {
  using namespace keeper;
  const auto add = [&all](std::string name, KeeperMessage message) {
    all.push_back({std::move(name), std::move(message)});
  };
  const JobId job = job_info().job;
  add("start_worker", StartWorker{job, 3, 5, launch()});
  add("stop_workers", StopWorkers{job});
  add("jobs_given", JobsGiven{41});
  add("save_copy",
      SaveCopy{job,
               "train",
               "stage 0",
               {{2, 3, 12, 4}, {{0, 5}, attempt(9)}, {{spawned_task(40), attempt(10)}}, blob("state")}});
  add("worker_up", WorkerUp{job, 3, life(0x10002), {"127.0.0.1:4002", "127.0.0.1:4003"}, 4711});
  add("worker_down", WorkerDown{job,
                                3,
                                life(0x10002),
                                ProcessEnd::out_of_memory,
                                "out of memory",
                                {{{0, 5}, attempt(9), 1, 2}, {spawned_task(40), attempt(10), 2, 0}},
                                0});
  add("worker_refused", WorkerRefused{job, 3, error()});
  add("want_program", WantProgram{launch().program});
  add("unheard", Unheard{job, {life(2), life(3)}});
  add("stop_worker", StopWorker{job, 2});
  add("another_leads", AnotherLeads{job});
  add("explain", Explain{job, 12, {"train", {{0, 5}, spawned_task(40)}}});
  add("explained", Explained{job, 12, process_explained()});
  add("keep_program", KeepProgram{launch().program});
  add("have_program", HaveProgram{launch().program});
  add("program_bytes", ProgramBytes{launch().program, blob("not much of a program")});
  add("begin", Begin{job, life(2), 5, {{"127.0.0.1:4002", "127.0.0.1:4003"}, {"[::1]:4004", "[::1]:4005"}}});
}

static void add_consensus(std::vector<Sample>& all) {
  using namespace consensus;
  const auto add = [&all](std::string name, Message message) {
    all.push_back({std::move(name), Addressed{JobId{77}, std::move(message)}});
  };
  const Seat seat{ProcessId{2}, 0x1122'3344'5566'7788}, other{ProcessId{3}, 9};
  const Configuration who{{seat, other}, {{ProcessId{4}, 10}}};
  add("ask_vote", AskVote{seat, 5, 17, 4, true, true});
  add("vote_answer", VoteAnswer{seat, 5, true, true});
  add("append", Append{seat,
                       5,
                       17,
                       4,
                       {{5, EntryType::noop, {}, {}},
                        {5, EntryType::command, blob("what a cell was told"), {}},
                        {5, EntryType::configuration, {}, who}},
                       16,
                       99});
  add("append_nothing", Append{seat, 5, 17, 4, {}, 16, 100});
  add("append_at_rest", Append{seat, 5, 17, 4, {}, 16, 100, true});
  add("append_answer", AppendAnswer{seat, 5, true, 20, true, 99});
  add("snapshot_piece", SnapshotPiece{seat, 5, 12, 3, who, 1000, 500, blob("half of a state"), 99});
  add("snapshot_answer", SnapshotAnswer{seat, 5, 12, 515, 99});
  add("take_over", TakeOver{seat, 5});
  add("outdated", Outdated{seat, 6});
  add("over", Over{seat, 6});
}

static void add_ring(std::vector<Sample>& all) {
  const ring::Host host{"0f6e5c1e-5f0a-4c1c-9d3b-1b7f1f0a9d55", 4026531836};
  all.push_back({"ring_offer",
                 RingMessage{ring::Offer{host, 4711, 9, 8, 0x1122'3344'5566'7788, 0x99AA'BBCC, 256 * 1024}}});
  all.push_back({"ring_ready", RingMessage{ring::Ready{}}});
  all.push_back({"ring_closed", RingMessage{ring::Closed{"not the same process namespace"}}});
  all.push_back(
      {"hand_over", RingMessage{ring::HandOver{3, {4711, 12, 0x99AA'BBCC'DDEE, 1 << 20, 1'000'000}}}});
  all.push_back({"hand_back", RingMessage{ring::HandBack{3, true}}});
  all.push_back({"stream_over", RingMessage{ring::StreamOver{4, 0x1122'3344'5566'7788, 40'404, 64 << 20}}});
}

static std::vector<Sample> written() {
  std::vector<Sample> all;
  all.push_back({"unimplemented", Unimplemented{9, 4}});
  add_handshake(all);
  add_membership(all);
  add_job(all);
  add_client(all);
  add_keeper(all);
  add_consensus(all);
  add_ring(all);
  all.push_back({"piece", Piece{3, 5'000'000, 1'000'000, blob("a part of something large"), 4'000'000}});
  all.push_back(
      {"job_note",
       JobNote{JobId{7}, JobNote::Kind::progress, 0.25, "train", "n1/cpu0", "loss 2.5", {0, 41}, 2}});
  return all;
}

test::SaidFields said() {
  test::SaidFields fields;
  for (const Sample& sample : all()) fields.look(sample.operation);
  return fields;
}

std::vector<Sample> all() {
  std::vector<Sample> all = written();
  test::SaidFields fields;
  for (const Sample& sample : all) fields.look(sample.operation);
  for (Sample& sample : all) fields.fill(sample.operation);
  return all;
}

Envelope envelope_of(std::vector<Operation> operations) {
  Envelope envelope;
  envelope.header.cluster = ClusterId{0xC0FFEE};
  envelope.header.from = life(1);
  envelope.header.to = life(2);
  envelope.header.seq = 42;
  for (const Operation& operation : operations) envelope.header.charge_bytes += size_bytes(operation);
  envelope.header.ack = 40;
  envelope.header.ack_beyond = 0x15;
  envelope.header.credit_operations = 20'000;
  envelope.header.credit_bytes = 70'000'000;
  envelope.header.probe = 3;
  envelope.header.answer = 2;
  envelope.operations = std::move(operations);
  return envelope;
}

}  // namespace dag::wire::samples
