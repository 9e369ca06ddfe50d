// exclusive FILE: a task that may run only once at a time. Each attempt looks whether a process is there
// that an earlier one has started, writes what it finds into FILE, and starts a child that leads a session of
// its own and ignores SIGTERM. The first two attempts then kill their process.
// exclusive FILE child|orphan: the first attempt waits until it is late, and leaves its child, or one that
// has lost its parent.
// exclusive FILE deaf: the first attempt never returns. Another task waits until the second one has begun.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <dag/dag.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text << std::flush;
}

bool is_there(pid_t process) {
  const std::string line = text_of("/proc/" + std::to_string(process) + "/stat");
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

void look_for_earlier(const std::string& file) {
  std::ifstream before(file);
  std::string word;
  pid_t process = 0;
  while (before >> word >> process) {
    if (word == "started" && is_there(process)) add(file, "overlaps " + std::to_string(process) + "\n");
  }
}

/// Returns when the child has written its number.
void start_child(const std::string& file, bool orphan) {
  const auto lines = [&] {
    const std::string text = text_of(file);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines();
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (orphan && fork() != 0) _exit(0);
    signal(SIGTERM, SIG_IGN);
    add(file, "started " + std::to_string(getpid()) + "\n");
    for (;;) pause();
  }
  if (orphan) waitpid(child, nullptr, 0);
  while (lines() == before) ledger::work();
}

int attempt(dag::Context& context, std::string file, std::string how) {
  const int number = static_cast<int>(context.attempt());
  look_for_earlier(file);
  if (how == "deaf") {
    add(file, "attempt " + std::to_string(number) + "\n");
    while (number == 1) pause();
    return number;
  }
  if (how.empty() || number == 1) start_child(file, how == "orphan");
  if (how.empty() && number < 3) kill(getpid(), SIGKILL);
  while (!how.empty() && number == 1 && !context.cancelled()) ledger::work();
  return number;
}

int beside(dag::Context& context, std::string file) {
  while (text_of(file).find("attempt 2") == std::string::npos) ledger::work();
  return static_cast<int>(context.attempt());
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string file = argv[1], how = argc > 2 ? argv[2] : "";
  dag::Graph graph("exclusive");
  auto task = graph.task("exclusive", attempt, file, how).effects(dag::exclusive).retry({.attempts = 5});
  if (!how.empty()) task.timeout(std::chrono::milliseconds(200)).retry({.attempts = 2});
  if (how != "deaf") {
    std::cout << "attempt " << session.submit(graph).get(task) << std::endl;
    return 0;
  }
  const auto other = graph.task("beside", beside, file);
  auto job = session.submit(graph);
  const int number = job.get(task);
  std::cout << "attempt " << number << ", beside " << job.get(other) << std::endl;
}
