#pragma once
// Real processes for the cluster tests: started with their output in pipes, waited for with limits, and all
// of them ended by their id when the test ends, however it ends.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "libdag/client/free_port.hpp"
#include "tests/support/patience.hpp"

namespace cluster {

using Clock = std::chrono::steady_clock;
using dag::test::comes_true;
using dag::test::patient;

inline std::string bin(const std::string& name) {
  const char* folder = std::getenv("DAG_BIN");
  return std::string(folder == nullptr ? "." : folder) + "/" + name;
}

using dag::free_address;

/// The parent of this process; 0: the process is not there, or has ended.
inline pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  char state = 'Z';
  pid_t parent = 0;
  std::istringstream(line.substr(std::min(line.size(), line.rfind(')') + 1))) >> state >> parent;
  return state == 'Z' ? 0 : parent;
}

inline bool is_gone_soon(pid_t process) {
  return comes_true([&] { return parent_of(process) == 0; });
}

/// The node of a worker process: the parent of its warden (libdag/warden).
inline pid_t node_of(pid_t worker) { return parent_of(parent_of(worker)); }

class Process {
 public:
  Process(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {}) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    // A signal that we send at once must meet the program, not the handlers of the test.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_ = fork();
    if (pid_ == 0) {
      for (const int number : {SIGINT, SIGTERM}) signal(number, SIG_DFL);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> pointers;
      for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
      pointers.push_back(nullptr);
      execvp(pointers[0], pointers.data());
      _exit(127);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(out[1]);
    close(err[1]);
    pipes_[0] = out[0];
    pipes_[1] = err[0];
  }
  ~Process() {
    if (!status_) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (const int file : pipes_) {
      if (file >= 0) close(file);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  const std::string& out() const { return text_[0]; }
  const std::string& err() const { return text_[1]; }

  /// Reads until stdout or stderr holds this text; false when both end or the patience does.
  bool says(const std::string& text) {
    return read_until(
        [&] { return text_[0].find(text) != std::string::npos || text_[1].find(text) != std::string::npos; });
  }
  /// Until the process and all that inherited its output have ended. Its exit status, or 128 + signal; empty:
  /// it has not ended in time.
  std::optional<int> ends() {
    read_until([] { return false; });
    if (pipes_[0] >= 0 || pipes_[1] >= 0) return std::nullopt;
    int waited = 0;
    if (!status_ && waitpid(pid_, &waited, 0) == pid_) {
      status_ = WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited);
    }
    return status_;
  }

  /// Until `done`, which is asked whenever something was said; false when it is not in time.
  template <class Done>
  bool read_until(Done done) {
    const auto until = Clock::now() + patient(dag::test::for_processes);
    while (!done()) {
      pollfd files[2] = {{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if ((pipes_[0] < 0 && pipes_[1] < 0) || left <= 0) return false;
      poll(files, 2, static_cast<int>(left));
      for (int i = 0; i < 2; ++i) {
        if (files[i].fd < 0 || files[i].revents == 0) continue;
        char buffer[4096];
        const ssize_t got = read(pipes_[i], buffer, sizeof buffer);
        if (got > 0) {
          text_[i].append(buffer, static_cast<std::size_t>(got));
        } else {
          close(pipes_[i]);
          pipes_[i] = -1;
        }
      }
    }
    return true;
  }

 private:
  pid_t pid_ = 0;
  int pipes_[2] = {-1, -1};
  std::string text_[2];
  std::optional<int> status_;
};

/// The environment of a process of a run that the test starts itself, to know its id.
inline std::map<std::string, std::string> place(std::uint32_t rank, std::uint32_t size,
                                                const std::string& first) {
  return {{"DAG_RANK", std::to_string(rank)},
          {"DAG_SIZE", std::to_string(size)},
          {"DAG_PEERS", first},
          {"DAG_CLUSTER", "c0ffee"}};
}

/// A directory of this test's own, gone at its end.
struct Directory {
  std::filesystem::path path;
  explicit Directory(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("dag-cluster-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string operator/(const std::string& file) const { return (path / file).string(); }
};

inline std::string result_in(const std::string& text) {
  const std::size_t at = text.find("result ");
  return at == std::string::npos ? "nothing in: " + text : text.substr(at, text.find('\n', at) - at);
}

}  // namespace cluster
