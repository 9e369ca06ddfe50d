// `dag run -n N JOB`: N processes of the job on this machine, each a node that runs its kernels; process 0 is
// also the client. They divide the cores.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/process.hpp"

namespace dag::tool {
namespace {

/// How long processes may take to end by themselves after process 0 has ended.
constexpr auto end_grace = std::chrono::milliseconds(5000);

/// A port of loopback that nobody listens on now.
std::uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (probe >= 0) close(probe);
  if (!bound) throw Failure({ErrorCode::address_in_use, "no free port on loopback"});
  return ntohs(address.sin_port);
}

/// So that a process that finds another run at a port that changed hands is turned away there.
std::string random_name() {
  std::random_device device;
  std::string digits;
  for (int i = 0; i < 16; ++i) digits += "0123456789abcdef"[device() % 16];
  return digits;
}

/// Kernels run in lanes, one per core: a library that starts threads of its own in each of them would only be
/// in the way. Whoever sets these means it.
std::map<std::string, std::string> one_thread_each() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (std::getenv(name) == nullptr) environment[name] = "1";
  }
  return environment;
}

int run(std::uint32_t count, const std::vector<std::string>& words) {
  block_signals();
  std::map<std::string, std::string> shared = one_thread_each();
  const std::string seed = "127.0.0.1:" + std::to_string(free_port());
  shared.insert({{"DAG_SIZE", std::to_string(count)}, {"DAG_PEERS", seed}, {"DAG_CLUSTER", random_name()}});
  std::vector<pid_t> children;
  const auto others_than = [&](pid_t one) {
    std::vector<pid_t> others;
    for (const pid_t child : children) {
      if (child != one) others.push_back(child);
    }
    return others;
  };
  try {
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      shared["DAG_RANK"] = std::to_string(rank);
      children.push_back(start({words, shared}));
    }
  } catch (...) {
    end_all(children, std::chrono::milliseconds(0));
    throw;
  }
  const pid_t first = children.front();
  for (;;) {
    const Waited waited = wait_for_child();
    if (waited.signal != 0) {
      std::cerr << "dag run: interrupted; " << children.size() << " processes are told to end"
                << std::endl;  // Flushed: whoever asks again must have been told.
      const Ending ending = end_all(children, end_grace);
      if (ending == Ending::too_late) std::cerr << "dag run: killed what had not ended after 5 s\n";
      if (ending == Ending::hurried) std::cerr << "dag run: killed what had not ended yet\n";
      return exit_interrupted;
    }
    if (waited.end.child == first) {
      end_all(others_than(first), end_grace);
      return waited.end.status;
    }
    std::erase(children, waited.end.child);
    if (waited.end.status == 0) continue;  // It was told goodbye: process 0 is about to end.
    std::cerr << "dag run: a process of the job ended with status " << waited.end.status << "; "
              << children.size() << " go on\n";
  }
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("run", "run a job as several processes on this machine");
  const auto count = std::make_shared<std::uint32_t>(1);
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("-n,--processes", *count, "how many")->capture_default_str()->check(CLI::Range(1, 256));
  command->add_option("job", *words, "the job's binary, and its arguments after --")->required();
  command->positionals_at_end();
  command->footer(
      "The processes find each other by DAG_RANK, DAG_SIZE, DAG_PEERS and DAG_CLUSTER, which this command "
      "sets, and use one thread in OpenBLAS and OpenMP where OPENBLAS_NUM_THREADS and OMP_NUM_THREADS are "
      "not "
      "set.\n"
      "Exit status: that of process 0; 130 when interrupted.");
  command->callback([=, &chosen] { chosen = [=] { return run(*count, job_words(*words)); }; });
}

}  // namespace dag::tool
