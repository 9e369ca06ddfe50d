// `dagd`: a node of a shared cluster, as a process. What it is told is in settings.hpp, what it is in
// keeper.hpp.

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/warden/started_with.hpp"
#include "nodes/disk/kept_ports.hpp"
#include "nodes/keeper/keeper.hpp"
#include "nodes/process/settings.hpp"

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
  options.spawn_credit = {settings.spawn_tasks.value, settings.spawn_bytes.value};
  options.keep_warm = std::chrono::seconds(settings.keep_warm.value);
  options.replicas = settings.replicas.value;
  options.witness = settings.witness.value;
  options.share = settings.share.value;
  options.log_level = settings.log.value;
  options.data_directory = settings.data.value;
  options.journal = settings.journal.value;
  options.journal_runs = settings.journal_runs.value;
  options.results = {std::chrono::seconds(settings.results_kept_for.value),
                     std::size_t{settings.results_mib.value} << 20};
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

/// A signal ends the node, in any of its lives.
class Serving {
 public:
  void begin(dag::Keeper& keeper) {
    const std::lock_guard lock(mutex_);
    keeper_ = &keeper;
    if (stops_) keeper.stop();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    keeper_ = nullptr;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    if (keeper_ != nullptr) keeper_->stop();
  }
  bool stops() {
    const std::lock_guard lock(mutex_);
    return stops_;
  }

 private:
  std::mutex mutex_;
  dag::Keeper* keeper_ = nullptr;
  bool stops_ = false;
};

void end_on_signal(const std::shared_ptr<Serving>& serving, const sigset_t& signals) {
  std::thread([serving, signals] {
    int number = 0;
    sigwait(&signals, &number);
    serving->stop();
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

/// Runs one life of the node. Returns the incarnation to come back with, if the node must come back.
std::optional<dag::Incarnation> live(dag::KeeperOptions& options, Serving& serving,
                                     std::optional<dag::Error>& failed) {
  dag::Keeper keeper(options);
  serving.begin(keeper);
  const dag::Endpoint& endpoint = keeper.endpoint();
  const bool first = options.incarnation_at_least == dag::Incarnation{};
  if (first) keep_ports_of(endpoint, options.data_directory);
  if (first && !endpoint.web.empty())
    std::cout << "dagd n" << options.id.value << " serves http://" << endpoint.web << "/\n";
  if (first) std::cout << "dagd n" << options.id.value << " listens on " << endpoint.control << std::endl;
  failed = keeper.wait();
  serving.end();
  // Other nodes and people look for it at its former address.
  options.listen = dag::net::parse_address(endpoint.control).value_or_throw();
  if (options.http) options.http = dag::net::parse_address(endpoint.web).value_or_throw();
  return keeper.come_back_as();
}

int serve(const dag::Settings& settings) {
  give_memory_back();
  const sigset_t signals = take_signals();
  const auto serving = std::make_shared<Serving>();
  end_on_signal(serving, signals);
  dag::KeeperOptions options = with_kept_ports(options_of(settings));
  std::optional<dag::Error> failed;
  for (auto next = live(options, *serving, failed); next; next = live(options, *serving, failed)) {
    if (serving->stops()) return EXIT_SUCCESS;
    std::cerr << "dagd: the other nodes remember a later start of n" << options.id.value
              << ": it comes back as incarnation " << next->value << std::endl;
    options.incarnation_at_least = *next;
  }
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
    // Without settings it was asked for help or its settings.
    return settings ? serve(*settings) : dag::checked_output("dagd", EXIT_SUCCESS);
  } catch (const dag::Failure& failure) {
    std::cerr << "dagd: " << failure.what() << '\n';
    return dag::exit_status_of(failure.error().code);
  } catch (const std::exception& error) {  // Errors of the system: files, memory.
    std::cerr << "dagd: " << error.what() << '\n';
    return dag::exit_work_failed;
  }
}
