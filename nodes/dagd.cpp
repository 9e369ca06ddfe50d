// `dagd`: a node of a shared cluster, as a process.

#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <thread>

#include "nodes/keeper.hpp"

namespace {

/// SIGINT and SIGTERM end the node; a second one ends the process at once.
void end_on_signal(dag::Keeper& keeper, const sigset_t& signals) {
  std::thread([&keeper, signals] {
    int signal_number = 0;
    sigwait(&signals, &signal_number);
    keeper.stop();
    sigwait(&signals, &signal_number);
    _exit(130);
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    dag::KeeperOptions options;
    options.state_directory = "/tmp/dag-test";
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string flag = argv[i], value = argv[i + 1];
      if (flag == "--id") options.id = {static_cast<std::uint32_t>(std::stoul(value))};
      if (flag == "--listen") options.listen = dag::net::parse_address(value).value_or_throw();
      if (flag == "--peers") options.peers.push_back(value);
      if (flag == "--log") options.log_level = value;
      if (flag == "--share") options.share = {static_cast<std::uint32_t>(std::stoul(value)), 3};
    }
    options.state_directory += "/n" + std::to_string(options.id.value);
    dag::Keeper keeper(options);
    end_on_signal(keeper, signals);
    std::cout << "dagd " << to_string(options.id) << " listens on " << keeper.endpoint().control << std::endl;
    if (const auto failed = keeper.wait()) {
      std::cerr << "dagd: " << failed->message() << '\n';
      return 8;
    }
    return 0;
  } catch (const dag::Failure& failure) {
    std::cerr << "dagd: " << failure.what() << '\n';
    return 4;
  }
}
