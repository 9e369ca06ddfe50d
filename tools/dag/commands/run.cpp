// `dag run -n N JOB`: N processes of the job on this machine, each a node that runs its kernels; process 0 is
// also the client. They divide the cores.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/free_port.hpp"
#include "libdag/client/kernel_threads.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/said.hpp"
#include "tools/dag/words.hpp"

namespace dag::tool {
namespace {

/// How long processes may take to end by themselves after process 0 has ended.
constexpr auto end_grace = std::chrono::milliseconds(5000);

/// Names the run: a port may have changed hands, and a process of another run is turned away.
std::string random_cluster_name() {
  std::random_device device;
  std::string digits;
  for (int i = 0; i < 16; ++i) digits += "0123456789abcdef"[device() % 16];
  return digits;
}

/// On top of the environment of the user.
std::map<std::string, std::string> threads_of_libraries() {
  std::map<std::string, std::string> environment;
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  for (const std::string& variable : detail::one_thread_each(is_set)) {
    const auto equals = variable.find('=');
    environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  return environment;
}

/// Memory that the processes share, to note the tasks that they run: the survivors read there which tasks a
/// process ran that died.
class RunningPages {
 public:
  RunningPages() : file_(memfd_create("dag-running", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (file_ < 0) throw Failure({ErrorCode::internal, "no shared memory: " + std::string(strerror(errno))});
  }
  ~RunningPages() { close(file_); }
  RunningPages(const RunningPages&) = delete;
  RunningPages& operator=(const RunningPages&) = delete;

  int file() const { return file_; }

 private:
  const int file_;
};

int run(std::uint32_t count, const std::vector<std::string>& words) {
  block_signals();
  // Process 0 reports when all processes have found each other. A process that ends before that is missing
  // for good, since none is started again; later the others take over its work.
  Said gathering, submitted;
  const RunningPages running;
  std::map<std::string, std::string> shared = threads_of_libraries();
  const std::string seed = "127.0.0.1:" + std::to_string(free_port());
  shared.insert({{"DAG_ADDRESS", ""},
                 {"DAG_SIZE", std::to_string(count)},
                 {"DAG_PEERS", seed},
                 {"DAG_CLUSTER", random_cluster_name()},
                 {"DAG_RUNNING", std::to_string(running.file())}});
  std::vector<pid_t> started;  // by rank
  std::vector<pid_t> children;
  try {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      ProgramCall command{words, shared};
      command.inherits.push_back(running.file());
      command.environment["DAG_RANK"] = std::to_string(rank);
      if (rank == 0) {
        gathering.hand_to(command, "DAG_GATHERED");
        submitted.hand_to(command, "DAG_SUBMITTED");
      }
      started.push_back(start(command));
      children.push_back(started.back());
    }
  } catch (...) {
    end_all(children, std::chrono::milliseconds(0));
    throw;
  }
  for (;;) {
    const Waited waited = wait_for_child();
    if (waited.signal != 0) {
      std::cerr << "dag run: interrupted; stopping " << children.size() << " processes"
                << std::endl;  // Flushed, so that it is seen before a second interrupt.
      const Ending ending = end_all(children, end_grace);
      if (ending == Ending::too_late)
        std::cerr << "dag run: killed the processes that had not ended after 5 s\n";
      if (ending == Ending::hurried) std::cerr << "dag run: killed the processes that had not ended yet\n";
      return exit_interrupted;
    }
    const ChildEnd& end = waited.end;
    const auto rank = std::find(started.begin(), started.end(), end.child) - started.begin();
    const auto said = [&] {
      return "dag run: process " + std::to_string(rank) + " of the job " + describe(end);
    };
    std::erase(children, end.child);
    if (rank == 0) {
      if (end.signal != 0) std::cerr << said() << std::endl;  // Else it has printed the reason itself.
      end_all(children, end_grace);
      return status_of_job(submitted, end.status, words.front());
    }
    if (end.status == 0) continue;  // Process 0 said goodbye: it is about to end.
    if (!gathering.done()) {
      std::cerr << said() << " before all " << count << " had found each other; stopping the others"
                << std::endl;
      end_all(children, end_grace);
      return end.status;
    }
    std::cerr << said() << "; " << children.size() << " continue\n";
  }
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("run", "run a job as several processes on this machine");
  const auto count = std::make_shared<std::uint32_t>(1);
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto isolate = std::make_shared<bool>(false);
  const auto no_rings = std::make_shared<bool>(false);
  command->add_option("-n,--processes", *count, "number of processes")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_flag("--isolate", *isolate,
                    "run kernels in worker processes: a kernel that crashes ends its worker process only");
  command->add_flag("--no-rings", *no_rings, "use sockets only, no shared memory between the processes");
  takes_words_as_they_are(
      command->add_option("job", *words, "the job's binary, and its arguments after --")->required());
  command->positionals_at_end();
  command->footer(
      "The command sets DAG_RANK, DAG_SIZE, DAG_PEERS, DAG_CLUSTER and DAG_RUNNING, by which the processes "
      "find\n"
      "each other. It sets OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS to 1, so that libraries "
      "use\n"
      "one thread per kernel; variables that are set stay, and none is set if OMP_NUM_THREADS is.\n"
      "Exit status: that of process 0; that of a process that ended before all had found each other; 130\n"
      "interrupted.");
  command->callback([=, &chosen] {
    chosen = [=] {
      std::vector<std::string> all = job_words(*words);
      if (*isolate) all.insert(all.begin() + 1, "--dag-isolate");  // The flag's name in the job's Session.
      if (*no_rings) all.insert(all.begin() + 1, "--dag-no-rings");
      return run(*count, all);
    };
  });
}

}  // namespace dag::tool
