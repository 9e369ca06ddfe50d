// MPI without a runtime on top: each process owns a block of points and goes through the steps with
// non-blocking messages, one per edge that leaves the process. There are no tasks to make, so this is the
// floor for two processes.

#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/patterned_task.hpp"

namespace dag::bench {
namespace {

struct World {
  int rank = 0, size = 1;
};

/// The messages and points of a process at one step: all that can be computed before timing is in here.
struct Step {
  struct Message {
    std::uint32_t task;  // whose output it is
    int peer;
    int tag;
  };
  std::vector<Message> received, sent;
  std::vector<std::uint32_t> mine;
};

/// Points in blocks of equal size.
int owner(const PatternTable& table, std::uint32_t task, const World& world) {
  return static_cast<int>(std::uint64_t{table.place(task).point} * static_cast<unsigned>(world.size) /
                          table.width());
}

std::vector<Step> plan(const PatternTable& table, const World& world) {
  std::vector<Step> steps(table.steps());
  // Processes that asked for an output already: one message is enough for all points of a process.
  std::vector<std::vector<bool>> asked(static_cast<std::size_t>(world.size), std::vector<bool>(table.size()));
  for (std::uint32_t number = 0; number < table.steps(); ++number) {
    for (std::uint32_t task = table.first_of(number); task < table.first_of(number + 1); ++task) {
      const int here = owner(table, task, world);
      if (here == world.rank) steps[number].mine.push_back(task);
      for (const std::uint32_t before : table.predecessors(task)) {
        const int there = owner(table, before, world);
        auto asked_here = asked[static_cast<std::size_t>(here)].begin() + before;
        if (here == there || *asked_here) continue;
        *asked_here = true;
        const int tag = static_cast<int>(table.place(before).point);
        if (here == world.rank) steps[number].received.push_back({before, there, tag});
        if (there == world.rank) steps[number - 1].sent.push_back({before, here, tag});
      }
    }
  }
  return steps;
}

double run(const PatternTable& table, const std::vector<Step>& steps, std::vector<Left>& left,
           std::uint64_t iterations) {
  std::vector<MPI_Request> receiving, sending;
  const auto bytes = [](Left& one) { return static_cast<void*>(&one); };
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch whole;
  for (const Step& step : steps) {
    receiving.clear();
    for (const Step::Message& one : step.received) {
      MPI_Irecv(bytes(left[one.task]), sizeof(Left), MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD,
                &receiving.emplace_back());
    }
    MPI_Waitall(static_cast<int>(receiving.size()), receiving.data(), MPI_STATUSES_IGNORE);
    for (const std::uint32_t task : step.mine) {
      left[task] = patterned_task(table, task, iterations,
                                  [&](std::size_t k) { return left[table.predecessors(task)[k]]; });
    }
    // Each task has a place of its own in `left`, so a send may take as long as it likes, up to the next one.
    MPI_Waitall(static_cast<int>(sending.size()), sending.data(), MPI_STATUSES_IGNORE);
    sending.clear();
    for (const Step::Message& one : step.sent) {
      MPI_Isend(bytes(left[one.task]), sizeof(Left), MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD,
                &sending.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(sending.size()), sending.data(), MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = whole.seconds();
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // All must agree on when the sweep ends.
  return seconds;
}

Figures patterns(const Request& request, const World& world) {
  const PatternTable table = table_of(request);
  const std::vector<Step> steps = plan(table, world);
  std::vector<Left> left(table.size());
  return sweep(request, [&](std::uint64_t iterations) {
    std::fill(left.begin(), left.end(), Left{});
    Figures figures;
    figures.numbers["total"] = run(table, steps, left, iterations);
    return figures;
  });
}

/// A large message from the second process to the first, which measures.
Figures blob(const Request& request, const World& world) {
  const std::uint64_t size_bytes = request.number("bytes", 1 << 20), rounds = request.number("rounds", 5);
  std::vector<char> bytes(size_bytes, 1);
  std::vector<std::int64_t> samples;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t start_ns = now_ns();
    if (world.rank == 1) {
      MPI_Send(&start_ns, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
      MPI_Send(bytes.data(), static_cast<int>(size_bytes), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      continue;
    }
    MPI_Recv(&start_ns, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(bytes.data(), static_cast<int>(size_bytes), MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (round > 0) samples.push_back(now_ns() - start_ns);  // The first one pays for cold memory.
  }
  Figures figures;
  if (world.rank == 0) add_percentiles(figures, "blob", std::move(samples));
  return figures;
}

}  // namespace

Figures measure(const Request& request) {
  if (request.workload != "patterns" && request.workload != "blob") throw UnknownWorkload(request);
  MPI_Init(nullptr, nullptr);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  const Figures figures = request.workload == "blob" ? blob(request, world) : patterns(request, world);
  MPI_Finalize();
  if (world.rank != 0) std::exit(0);
  return figures;
}

}  // namespace dag::bench
