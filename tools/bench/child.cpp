#include "tools/bench/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace dag::bench {
namespace {

/// How long a program may take to end after it was told to.
constexpr auto end_grace = std::chrono::seconds(10);

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe: " + std::string(std::strerror(errno)));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

std::vector<char*> environment_without_dag() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("DAG_") && !text.starts_with("OMP_")) kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

pid_t spawn(const std::vector<std::string>& words, const posix_spawn_file_actions_t& files,
            const posix_spawnattr_t* attributes) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_without_dag();
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &files, attributes, arguments.data(), environment.data());
  if (failed != 0) throw std::runtime_error("cannot start " + words[0] + ": " + std::strerror(failed));
  return child;
}

/// In our process group: an interrupt of us interrupts it too.
pid_t spawn(const std::vector<std::string>& words, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.write, STDERR_FILENO);
  const pid_t child = spawn(words, files, nullptr);
  posix_spawn_file_actions_destroy(&files);
  return child;
}

/// Beyond the reach of an interrupt of us.
pid_t spawn_apart(const std::vector<std::string>& words, const Pipe& in) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.read, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  const pid_t child = spawn(words, files, &group);
  posix_spawnattr_destroy(&group);
  posix_spawn_file_actions_destroy(&files);
  return child;
}

}  // namespace

Ended run_child(const std::vector<std::string>& words, std::chrono::seconds limit) {
  Pipe out, err;
  const pid_t child = spawn(words, out, err);
  Pipe::close_end(out.write);
  Pipe::close_end(err.write);
  Ended ended;
  auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<pollfd, 2> ends = {pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&ended.output, &ended.messages};
  int open = 2;
  while (open > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready =
        poll(ends.data(), ends.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      // Launchers (`dag run`, `mpirun`) end their processes on SIGTERM; SIGKILL only when they did not.
      if (std::exchange(ended.timed_out, true)) {
        kill(child, SIGKILL);
        break;
      }
      kill(child, SIGTERM);
      deadline = std::chrono::steady_clock::now() + end_grace;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t size = read(ends[i].fd, buffer, sizeof buffer);
      if (size > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(size));
      } else if (size == 0 || errno != EINTR) {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

Afterwards::Afterwards(std::string script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/bin/sh", "-c", "read -r nothing; " + std::move(script), "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pipe pipe;
  shell_ = spawn_apart(words, pipe);
  alive_ = std::exchange(pipe.write, -1);
}

Afterwards::~Afterwards() {
  close(alive_);
  while (waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace dag::bench
