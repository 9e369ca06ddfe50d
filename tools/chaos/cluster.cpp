#include "tools/chaos/cluster.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "libdag/client/cluster.hpp"
#include "libdag/client/free_port.hpp"

namespace dag::chaos {
namespace {

constexpr auto log_looked_at_every = std::chrono::milliseconds(1);

std::string name_of(std::uint32_t node) { return "n" + std::to_string(node); }

/// A file of a process or a thread, whole; empty: it is gone.
std::string read_proc(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The children of all threads of the process.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
    std::istringstream words(read_proc(thread.path() / "children"));
    children.insert(children.end(), std::istream_iterator<pid_t>(words), {});
  }
  return children;
}

/// True: the process began more than two seconds ago.
bool is_settled_in(pid_t process) {
  const std::string text = read_proc("/proc/" + std::to_string(process) + "/stat");
  std::istringstream behind_name(text.substr(std::min(text.rfind(") "), text.size())));
  std::string word;
  for (int field = 2; field < 22; ++field) behind_name >> word;  // The name is the second, this is the 22nd.
  double began_ticks = 0, up_s = 0;
  behind_name >> began_ticks;
  std::istringstream(read_proc("/proc/uptime")) >> up_s;
  return up_s - began_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) > 2;
}

/// The job that a node started this process for (WorkerSeat); empty: for none.
std::string job_of(pid_t process) {
  std::istringstream variables(read_proc("/proc/" + std::to_string(process) + "/environ"));
  for (std::string one; std::getline(variables, one, '\0');) {
    if (!one.starts_with("DAG_WORKER=")) continue;
    std::istringstream seat(one.substr(one.find('=') + 1));
    std::uint64_t number = 0, incarnation = 0;
    JobId job;
    seat >> number >> incarnation >> job.value;
    return to_string(job);
  }
  return {};
}

}  // namespace

// ---- Programs

Program::Program(const std::vector<std::string>& words, const std::filesystem::path& out,
                 const std::filesystem::path& err, int space) {
  const auto open_file = [](const std::filesystem::path& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  };
  const int files[2] = {open_file(out), open_file(err)};
  if (files[0] < 0 || files[1] < 0) throw std::runtime_error("cannot write " + out.string());
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (space >= 0 && setns(space, CLONE_NEWNET) != 0) _exit(127);
    dup2(files[0], STDOUT_FILENO);
    dup2(files[1], STDERR_FILENO);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  for (const int file : files) close(file);
  if (pid_ < 0) throw std::runtime_error("cannot start " + words.front());
}

Program::~Program() {
  if (ended()) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Program::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

std::optional<int> Program::ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

int Program::wait() {
  while (!ended()) std::this_thread::sleep_for(log_looked_at_every);
  return *status_;
}

std::vector<std::string> Lines::more() {
  std::vector<std::string> lines;
  std::ifstream file(file_);
  file.seekg(at_);
  for (std::string line; std::getline(file, line) && !file.eof(); at_ = file.tellg()) lines.push_back(line);
  return lines;
}

// ---- Nodes

Cluster::Cluster(std::filesystem::path directory, std::filesystem::path programs,
                 const ClusterOptions& options)
    : directory_(std::move(directory)),
      programs_(std::move(programs)),
      power_seed_(options.power_seed),
      journal_runs_(options.journal_runs),
      network_(options.network),
      nodes_(options.nodes) {
  for (std::uint32_t id = 0; id < size(); ++id)
    nodes_[id].address = network_ != nullptr ? network_->address(id) + ":7117" : free_address();
  for (std::uint32_t id = 0; id < size(); ++id) start(id);
}

bool Cluster::runs(std::uint32_t node) { return nodes_[node].program && !nodes_[node].program->ended(); }

void Cluster::start(std::uint32_t id) {
  Node& node = nodes_[id];
  const std::filesystem::path folder = directory_ / name_of(id);
  std::filesystem::create_directories(folder);
  std::string peers;
  for (std::uint32_t other = 0; other < size(); ++other) {
    if (other != id) peers += (peers.empty() ? "" : ",") + nodes_[other].address;
  }
  node.log = folder / "log";
  node.data = folder / "data";
  if (!node.said) node.said = std::make_unique<Lines>(node.log);
  read_log(id);  // Reads the rest of the last start's log.
  node.knows.clear();
  std::vector<std::string> words;
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (network_ != nullptr) add({"/usr/bin/env", "DAG_BEYOND_LOOPBACK=1"});
  if (journal_runs_) add({"/usr/bin/env", "DAG_JOURNAL_RUNS=true"});
  if (power_seed_) add({"/usr/bin/env", "DAG_LOSES_UNSYNCED=" + std::to_string((*power_seed_)++)});
  add({(programs_ / "dagd").string(), "--id", std::to_string(id), "--listen", node.address});
  add({"--peers", peers, "--cluster", "c4a05", "--lanes", "1", "--log", "info"});
  add({"--state-dir", folder.string(), "--data", node.data.string()});
  node.program = std::make_unique<Program>(words, folder / "out", node.log,
                                           network_ != nullptr ? network_->file(id) : -1);
}

std::uint32_t Cluster::start_ended() {
  std::uint32_t started = 0;
  for (std::uint32_t id = 0; id < size(); ++id) {
    if (runs(id)) continue;
    start(id);
    ++started;
  }
  return started;
}

void Cluster::signal(std::uint32_t node, int number) { nodes_[node].program->signal(number); }

void Cluster::kill(std::uint32_t node) { nodes_[node].program.reset(); }

void Cluster::kill_all() {
  for (const Node& node : nodes_) node.program->signal(SIGKILL);
  for (Node& node : nodes_) node.program.reset();
}

void Cluster::stop_all() {
  for (const Node& node : nodes_) node.program->signal(SIGTERM);
  for (Node& node : nodes_) {
    node.program->wait();
    node.program.reset();
  }
}

std::vector<std::string> Cluster::data_directories() const {
  std::vector<std::string> directories;
  for (const Node& node : nodes_) directories.push_back(node.data.string());
  return directories;
}

std::size_t Cluster::seen_by(std::uint32_t node) {
  const auto nodes = detail::connect(nodes_[node].address)->nodes();
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const NodeInfo& one) { return one.state == MemberState::alive; }));
}

/// A node's warden starts them, and has the same environment: they are those without children.
std::vector<pid_t> Cluster::workers(std::uint32_t node, const std::string& job) {
  std::vector<pid_t> found, open;
  if (runs(node)) open.push_back(nodes_[node].program->pid());
  while (!open.empty()) {
    const pid_t process = open.back();
    open.pop_back();
    const std::vector<pid_t> children = children_of(process);
    open.insert(open.end(), children.begin(), children.end());
    if (children.empty() && job_of(process) == job && is_settled_in(process)) found.push_back(process);
  }
  return found;
}

std::optional<std::uint32_t> Cluster::leader() {
  for (std::uint32_t id = 0; id < size(); ++id) {
    if (!runs(id)) continue;
    try {
      if (detail::connect(nodes_[id].address)->nodes().front().jobs > 0) return id;
    } catch (const Failure&) {  // A node that is about to run, or runs no more.
    }
  }
  return std::nullopt;
}

std::optional<JobInfo> Cluster::job_at(std::uint32_t node, const std::string& number) {
  try {
    if (runs(node)) {
      for (const JobInfo& job : detail::connect(nodes_[node].address)->jobs({})) {
        if (to_string(job.job) == number) return job;
      }
    }
  } catch (const Failure&) {  // As above.
  }
  return std::nullopt;
}

bool Cluster::gather(Clock::duration limit) {
  const auto until = Clock::now() + limit;
  const auto all_see_all = [&] {
    for (std::uint32_t id = 0; id < size(); ++id) {
      try {
        if (runs(id) && seen_by(id) < size()) return false;
      } catch (const Failure&) {
        return false;
      }
    }
    return true;
  };
  while (!all_see_all()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(log_looked_at_every * 20);
  }
  return true;
}

std::vector<std::string> Cluster::more_said(std::uint32_t node) {
  read_log(node);
  return std::exchange(nodes_[node].unheard, {});
}

void Cluster::read_log(std::uint32_t node) {
  std::set<std::string>& knows = nodes_[node].knows;
  for (std::string& line : nodes_[node].said->more()) {
    const auto named = [&](std::size_t end) {  // "... dag: n3 has joined, at ..."
      const std::size_t begin = line.rfind(' ', end - 1) + 1;
      return line.substr(begin, end - begin);
    };
    if (const auto here = line.find(" has joined, at "); here != std::string::npos) knows.insert(named(here));
    if (const auto gone = line.find(" is gone: "); gone != std::string::npos) knows.erase(named(gone));
    nodes_[node].unheard.push_back(std::move(line));
  }
}

std::vector<std::uint32_t> Cluster::who_know(std::uint32_t node) {
  std::vector<std::uint32_t> those;
  for (std::uint32_t id = 0; id < size(); ++id) {
    if (id == node || !runs(id)) continue;
    read_log(id);
    if (nodes_[id].knows.contains(name_of(node))) those.push_back(id);
  }
  return those;
}

std::optional<Clock::duration> Cluster::noticed(std::uint32_t gone, std::vector<std::uint32_t> by,
                                                Clock::time_point since, Clock::duration limit) {
  while (!by.empty()) {
    if (Clock::now() - since > limit) return std::nullopt;
    std::erase_if(by, [&](std::uint32_t id) {
      read_log(id);
      return !nodes_[id].knows.contains(name_of(gone));
    });
    std::this_thread::sleep_for(log_looked_at_every);
  }
  return Clock::now() - since;
}

}  // namespace dag::chaos
