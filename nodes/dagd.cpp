// `dagd`: a node of a shared cluster, as a process. What it is told is in settings.hpp, what it is in
// keeper.hpp.

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/warden/started_with.hpp"
#include "nodes/keeper.hpp"
#include "nodes/kept_ports.hpp"
#include "nodes/settings.hpp"

namespace {

dag::KeeperOptions options_of(const dag::Settings& settings) {
  dag::KeeperOptions options;
  options.id = {settings.id.value};
  options.listen = settings.listen.value;
  options.peers = settings.peers.value;
  options.http = settings.http.value;
  options.http_token = settings.http_token.value;
  options.cluster = settings.cluster.value;
  options.lanes = settings.lanes.value;
  options.niceness = settings.niceness.value;
  options.replicas = settings.replicas.value;
  options.witness = settings.witness.value;
  options.share = settings.share.value;
  options.log_level = settings.log.value;
  options.data_directory = settings.data.value;
  options.journal = settings.journal.value;
  options.journal_runs = settings.journal_runs.value;
  options.state_directory = settings.state_dir.value + "/n" + std::to_string(settings.id.value);
  return options;
}

/// SIGINT and SIGTERM end the node; a second one ends the process at once. Before any thread is made: all of
/// them inherit the mask.
sigset_t take_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void end_on_signal(dag::Keeper& keeper, const sigset_t& signals) {
  std::thread([&keeper, signals] {
    int number = 0;
    sigwait(&signals, &number);
    keeper.stop();
    sigwait(&signals, &number);
    _exit(dag::exit_interrupted);
  }).detach();
}

/// A node lives long and passes on a large output now and then, in pieces: what is freed goes back to the
/// system, instead of staying with the heap because glibc raised its threshold when the first one was freed.
void give_memory_back() { mallopt(M_MMAP_THRESHOLD, 256 * 1024); }

dag::KeeperOptions with_kept_ports(dag::KeeperOptions options) {
  if (options.data_directory.empty()) return options;
  const dag::NodePorts kept = dag::kept_ports(options.data_directory);
  options.listen = dag::again(options.listen, kept.listen);
  if (options.http) options.http = dag::again(*options.http, kept.http);
  return options;
}

void keep_ports_of(const dag::Endpoint& endpoint, const std::string& data_directory) {
  const auto listens = dag::net::parse_address(endpoint.control);
  if (data_directory.empty() || !listens) return;
  const auto serves = dag::net::parse_address(endpoint.web);
  dag::keep_ports(data_directory, {*listens, serves ? *serves : dag::net::Address{}});
}

int serve(const dag::Settings& settings) {
  give_memory_back();
  const sigset_t signals = take_signals();
  dag::Keeper keeper(with_kept_ports(options_of(settings)));
  end_on_signal(keeper, signals);
  const dag::Endpoint& endpoint = keeper.endpoint();
  keep_ports_of(endpoint, settings.data.value);
  if (!endpoint.web.empty())
    std::cout << "dagd n" << settings.id.value << " serves http://" << endpoint.web << "/\n";
  std::cout << "dagd n" << settings.id.value << " listens on " << endpoint.control << std::endl;
  const auto failed = keeper.wait();
  if (!failed) return EXIT_SUCCESS;
  std::cerr << "dagd: " << failed->message() << '\n';
  return dag::exit_status_of(failed->code);
}

}  // namespace

int main(int argc, char** argv) {
  dag::close_files_of_starter();
  dag::put_right_what_we_were_started_with();
  dag::heed_closed_pipes();
  try {
    const auto settings = dag::settings_of(argc, argv).value_or_throw();
    // Without settings it was asked what they are.
    return settings ? serve(*settings) : dag::checked_output("dagd", EXIT_SUCCESS);
  } catch (const dag::Failure& failure) {
    std::cerr << "dagd: " << failure.what() << '\n';
    return dag::exit_status_of(failure.error().code);
  } catch (const std::exception& error) {  // Of the system: files, memory.
    std::cerr << "dagd: " << error.what() << '\n';
    return dag::exit_work_failed;
  }
}
