#include "tools/sim/actors/cluster.hpp"

#include <algorithm>

namespace dag::sim {
namespace {

/// A history that is longer does not end.
constexpr std::uint64_t steps_max = 3'000'000;
/// The time goes on now and then though actors have something to do.
constexpr double hurry = 0.01;
/// After this time all processes of a job know its members and the dead.
constexpr Duration known_after = std::chrono::seconds(5);

}  // namespace

Cluster::Cluster(const ClusterOptions& options, std::vector<std::unique_ptr<Program>> programs)
    : options_(options),
      random_(options.seed * 31 + 7),
      forms_(options.seed * 37 + 5),
      cancels_(options.seed * 41 + 3),
      network_(events_, options.network, options.seed),
      world_{events_, network_, ledger_, random_},
      programs_(std::move(programs)),
      seats_(options.nodes) {
  ledger_.print = options_.trace;
  ledger_.planted = options_.planted;
  SimClientOptions client;
  client.supervise_all = options_.supervise_all;
  for (std::uint32_t i = 0; i < options_.nodes; ++i) {
    seats_[i].address = "127.0.0.1:" + std::to_string(7000 + i);
    client.nodes.push_back(seats_[i].address);
  }
  for (std::uint32_t i = 0; i < options_.nodes; ++i) {
    seats_[i].disk = NodeDisk(random_.next() | 1);
    start_node(i);
  }
  plan_faults();
  client.cancelled = [this](JobId job, Life by) { on_cancelled(job, by); };
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    if (options_.cancels) client.cancels_after = std::chrono::microseconds(cancels_.below(500'000));
    clients_.push_back(
        std::make_unique<SimClient>(world_, client, static_cast<std::uint16_t>(i), *programs_[i]));
    const auto come = static_cast<std::uint64_t>(options_.clients_come.count());
    events_.after(
        std::chrono::milliseconds(300) + Duration(static_cast<Duration::rep>(random_.below(come + 1))),
        [arrives = clients_.back().get()] { arrives->begin(); });
  }
}

Cluster::~Cluster() {
  for (auto& [life, worker] : workers_) worker.process->die();
  for (Seat& seat : seats_) {
    if (seat.node) seat.node->die();
  }
}

// ---- Processes

void Cluster::start_node(std::uint32_t index) {
  Seat& seat = seats_[index];
  seat.up_since = events_.now();
  if (seat.incarnation == 0 || ledger_.planted != PlantedAround::same_life) ++seat.incarnation;
  const Life self{{index}, {seat.incarnation}};
  ledger_.trace(to_string(self) + " begins");
  SimNodeOptions node;
  for (const Seat& other : seats_) node.addresses.push_back(other.address);
  node.lanes = options_.lanes.lanes;
  node.copies_wanted = options_.copies_wanted;
  node.on_disk = options_.on_disk;
  node.sync_max = options_.sync_max;
  NodePorts ports;
  ports.start_process = [this, self](const StartProcess& order) {
    in_turn(self.process.value, [this, self, order] { start_worker(self, order); });
  };
  ports.stop_process = [this, index](Life life) { in_turn(index, [this, life] { stop_worker(life); }); };
  ports.over = [this, index, self] {
    ledger_.saw("a node ends, the others go on");
    if (!seats_[index].node || seats_[index].node->life() != self) return;
    crash_node(index, false);
    start_node_after(draw_pause(), index);
  };
  seat.node =
      std::make_unique<SimNode>(world_, self, seat.address, node, seat.disk, seat.programs, std::move(ports));
}

void Cluster::start_worker(Life node, const StartProcess& order) {
  Seat& seat = seats_[node.process.value];
  if (!seat.node || seat.node->life() != node) return;
  seat.node->process_started(order.life);
  settled_at_ = events_.now() + known_after;
  const std::string address = "127.0.0.1:" + std::to_string(30'000 + ++workers_started_);
  workers_[order.life] = {node, std::make_unique<SimWorker>(world_, order, node, address, options_.lanes,
                                                            [this, life = order.life](const WorkerEnd& how) {
                                                              end_worker(life, how);
                                                            })};
}

void Cluster::end_worker(Life life, const WorkerEnd& how) {
  auto found = workers_.extract(life);
  if (!found) return;
  settled_at_ = events_.now() + known_after;
  Worker& worker = found.mapped();
  ledger_.trace(to_string(life) + " ends: " + how.text);
  std::vector<RunningAttempt> running = worker.process->running();
  worker.process->die();
  dead_.push_back(std::move(worker.process));
  Seat& seat = seats_[worker.node.process.value];
  if (!seat.node || seat.node->life() != worker.node) return;
  if (ledger_.planted == PlantedAround::end_not_told && random_.chance(0.2)) return;
  seat.node->after(std::chrono::microseconds(random_.below(5000)),
                   [node = seat.node.get(), life, how, running] {
                     node->process_ended(life, how.how, how.text, running, how.guilty_lane);
                   });
}

void Cluster::in_turn(std::uint32_t node, std::function<void()> what) {
  Instant& busy = seats_[node].processes_busy;
  busy = std::max(busy, events_.now()) + std::chrono::microseconds(100 + random_.below(15'000));
  events_.at(busy, std::move(what));
}

void Cluster::stop_worker(Life life) { end_worker(life, {ProcessEnd::stopped_by_us, "it was told to end"}); }

/// Its worker processes end with it: the kernel sees to that.
void Cluster::crash_node(std::uint32_t index, bool lose_disk) {
  Seat& seat = seats_[index];
  const Life life = seat.node->life();
  ledger_.trace(to_string(life) + " is down");
  seat.node->die();
  dead_.push_back(std::move(seat.node));
  seat.disk.crash(random_);
  if (lose_disk || !options_.on_disk) {
    seat.disk = NodeDisk(random_.next() | 1);
    seat.programs.clear();
  }
  std::vector<Life> gone;
  for (const auto& [worker, about] : workers_) {
    if (about.node == life) gone.push_back(worker);
  }
  for (const Life worker : gone) end_worker(worker, {ProcessEnd::went_with_node, "its node is gone"});
}

// ---- The order of things

bool Cluster::step() {
  ++steps_;
  ready_.clear();
  each_process([&](SimProcess& process) {
    if (!process.paused() && process.host().has_job()) ready_.push_back(&process);
  });
  if (ready_.empty() || random_.chance(hurry)) return pass_time() || !ready_.empty();
  ready_[random_.below(ready_.size())]->run_one(random_);
  return true;
}

bool Cluster::pass_time() {
  std::optional<Instant> next;
  if (!events_.empty()) next = events_.next_at();
  each_process([&](SimProcess& process) {
    const std::optional<Instant> timeout = process.paused() ? std::nullopt : process.host().next_timeout();
    if (timeout && (!next || *timeout < *next)) next = timeout;
  });
  if (!next) return false;
  if (events_.empty() || *next < events_.next_at()) events_.at(*next, [] {});
  events_.run_one();
  dead_.clear();
  each_process([&](SimProcess& process) {
    if (!process.paused()) process.host().advance(events_.now());
  });
  return true;
}

/// I13, when nothing is broken any more and all have heard of each other.
void Cluster::look_at_waiting_work() {
  if (events_.now() < look_at_) return;
  look_at_ = events_.now() + std::chrono::milliseconds(500);
  if (events_.now() < std::max(settled_at_, Instant{options_.faults.calm_at}))
    return conservation_.disturbed(events_.now());
  std::vector<WaitingWork> waiting;
  std::vector<FreeLane> free;
  for (const auto& [life, worker] : workers_) {
    if (worker.process->begun()) worker.process->look(waiting, free);
  }
  if (const auto wrong = conservation_.look(events_.now(), waiting, free)) {
    std::string open;
    for (const auto& [life, worker] : workers_) open += "\n    " + worker.process->state();
    throw Violation(*wrong + ":" + open);
  }
}

bool Cluster::all_done() const {
  return std::all_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->done(); });
}

void Cluster::run() {
  const auto look = [&] {
    if (!ledger_.violation().empty()) throw Violation(ledger_.violation());
    if (steps_ > steps_max) throw Violation("it does not end");
  };
  const Instant until{options_.patience};
  while (!all_done() && events_.now() < until && step()) {
    look();
    look_at_waiting_work();
  }
  std::string open;
  for (const auto& [life, worker] : workers_) open += "\n    " + worker.process->state();
  for (const auto& client : clients_) {
    if (!client->done()) throw Violation("stuck: " + client->state() + open);
    client->check();
  }
  // The rest of the jobs goes when nobody asks for it any more.
  const Instant quiet = events_.now() + std::chrono::seconds(120);
  while (!workers_.empty() && events_.now() < quiet && step()) look();
  check_clean();
}

void Cluster::check_clean() {
  if (!workers_.empty())
    throw Violation("the worker process " + to_string(workers_.begin()->first) + " is left of " +
                    to_string(workers_.begin()->second.process->job()) + ", which has ended");
}

}  // namespace dag::sim
