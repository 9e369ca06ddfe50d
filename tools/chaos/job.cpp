// dag-chaos-job: a random graph whose every result can be checked, and whose effects go into a ledger
// outside.
//
//   dag-chaos-job SEED TASKS LEDGER     prints, each as a line: `submitted JOB` or `refused`, `settled TASK
//                                       VALUE FROM NANOSECONDS`, `without TASK` (it ended, and has no value),
//                                       `unknown TASK`, `changed TASK`, `unpublished TASK`, and `done` at its
//                                       end

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dag/dag.hpp>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "tools/chaos/marks.hpp"

namespace {

using dag::chaos::Kind;
using dag::chaos::Mark;

/// So that something runs when a node is killed: 10 to 100 ms. The core is left to the nodes.
void work(std::uint64_t task) { std::this_thread::sleep_for(std::chrono::milliseconds(10 + task * 35 % 91)); }

void enter(const std::string& ledger, const Mark& mark) {
  char line[80];
  const int size =
      std::snprintf(line, sizeof line, "%llu %llu %llu\n", static_cast<unsigned long long>(mark.task),
                    static_cast<unsigned long long>(mark.value), static_cast<unsigned long long>(mark.from));
  const int file = open(ledger.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, static_cast<std::size_t>(size)) != size)
    throw std::runtime_error("cannot write the ledger");
  close(file);
}

/// Held for as long as an exclusive task runs; the system lets go of it when its process dies, and not
/// before.
class Alone {
 public:
  Alone(const std::string& ledger, const Mark& mark)
      : file_(open((ledger + ".alone" + std::to_string(mark.task)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                   0600)) {
    if (file_ < 0) throw std::runtime_error("cannot open the lock of a task");
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) enter(ledger + ".twice", mark);
  }
  ~Alone() { close(file_); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const int file_;
};

std::string file_of(const std::string& ledger, std::uint64_t task) {
  return ledger + ".staged" + std::to_string(task);
}

Mark run(dag::Context& context, std::uint64_t seed, std::uint64_t task, std::uint8_t kind, std::string ledger,
         std::vector<Mark> inputs) {
  std::optional<Alone> alone;
  if (Kind{kind} == Kind::exclusive) {
    alone.emplace(ledger, Mark{task, 0, 0});
    for (int i = 0; i < 8; ++i) work(task);  // Longer, so that it is met.
  }
  work(task);
  std::vector<std::uint64_t> values;
  for (const Mark& input : inputs) values.push_back(input.value);
  const std::uint64_t from = dag::chaos::from_values(values);
  std::uint64_t value = dag::chaos::value_of(seed, task, from);
  if (Kind{kind} == Kind::varying || Kind{kind} == Kind::staged) {
    std::random_device device;
    value = std::uint64_t{device()} << 32 | device();
  }
  const Mark mark{task, value, from};
  if (Kind{kind} == Kind::staged) std::ofstream(context.stage(file_of(ledger, task))) << mark.value;
  if (Kind{kind} >= Kind::idempotent) enter(ledger, mark);
  return mark;
}

/// An honest answer: a cluster without a majority takes no job.
dag::Job submit(dag::Session& session, const dag::Graph& graph) {
  try {
    return session.submit(graph);
  } catch (const dag::Failure& failure) {
    if (failure.error().code == dag::ErrorCode::no_quorum) std::puts("refused");
    throw;
  }
}

long long nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc < 4) return 2;
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
  const auto plan = dag::chaos::plan_of(seed, static_cast<std::uint32_t>(std::atoi(argv[2])));
  const std::string ledger = argv[3];
  dag::Graph graph("chaos");
  std::vector<dag::Output<Mark>> outputs;
  for (std::uint64_t task = 0; task < plan.size(); ++task) {
    std::vector<dag::Output<Mark>> inputs;
    for (const std::uint32_t input : plan[task].inputs) inputs.push_back(outputs[input]);
    auto one = graph.task("t" + std::to_string(task), run, seed, task,
                          static_cast<std::uint8_t>(plan[task].kind), ledger, inputs);
    if (plan[task].kind == Kind::varying || plan[task].kind == Kind::staged) one.varying();
    if (plan[task].kind == Kind::staged) one.effects(dag::staged);
    if (plan[task].kind == Kind::idempotent) one.effects(dag::idempotent);
    if (plan[task].kind == Kind::exclusive) one.effects(dag::exclusive);
    if (plan[task].kind == Kind::at_most_once) one.effects(dag::at_most_once);
    outputs.push_back(one);
  }
  dag::Job job = submit(session, graph);
  std::printf("submitted %s\n", job.id().c_str());
  std::fflush(stdout);
  std::vector<Mark> seen(plan.size());
  for (const auto& output : session.as_completed(outputs)) {
    if (job.outcome(output) != dag::Outcome::finished) {
      std::printf("without %u\n", output.index());
      std::fflush(stdout);
      continue;
    }
    const Mark mark = job.get(output);
    seen.at(mark.task) = mark;
    if (plan[mark.task].kind == Kind::staged) {
      std::uint64_t value = 0;
      std::ifstream(file_of(ledger, mark.task)) >> value;
      if (value != mark.value) std::printf("unpublished %llu\n", static_cast<unsigned long long>(mark.task));
    }
    std::printf("settled %llu %llu %llu %lld\n", static_cast<unsigned long long>(mark.task),
                static_cast<unsigned long long>(mark.value), static_cast<unsigned long long>(mark.from),
                nanoseconds());
    std::fflush(stdout);
  }
  for (std::uint64_t task = 0; task < plan.size(); ++task) {
    if (job.outcome(outputs[task]) != dag::Outcome::finished) {
      try {
        job.get(outputs[task]);
      } catch (const dag::Failure& failure) {
        std::printf("unknown %llu %s\n", static_cast<unsigned long long>(task), failure.what());
      }
    } else if (job.get(outputs[task]) != seen[task]) {
      std::printf("changed %llu\n", static_cast<unsigned long long>(task));
    }
  }
  std::printf("done\n");
}
