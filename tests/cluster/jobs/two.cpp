// Two jobs of one session: `two DIRECTORY` submits one with a task that blocks its lane, then another one,
// and lets the first one end when the second one has.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Opens a FIFO: returns when its other end is open as well.
int opened(const std::string& fifo, int how) {
  const int file = open(fifo.c_str(), how | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot open " + fifo);
  return file;
}

int block(std::string directory) {
  close(opened(directory + "/begun", O_WRONLY));
  close(opened(directory + "/gate", O_RDONLY));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  for (const char* fifo : {"/begun", "/gate"}) {
    if (mkfifo((directory + fifo).c_str(), 0600) != 0) return 2;
  }
  dag::Graph blocked("blocked");
  const auto blocks = blocked.task("block", block, directory);
  auto first = session.submit(blocked);
  close(opened(directory + "/begun", O_RDONLY));

  dag::Graph beside("beside");
  std::vector<dag::Output<int>> parts;
  for (int i = 0; i < 40; ++i)
    parts.push_back(beside.task(
        "part", [](int number) { return number; }, i));
  const auto sum = beside.task(
      "sum", [](std::vector<int> all) { return std::accumulate(all.begin(), all.end(), 0); }, parts);
  std::cout << "beside: " << session.submit(beside).get(sum) << std::endl;
  close(opened(directory + "/gate", O_WRONLY));
  std::cout << "blocked: " << first.get(blocks) << std::endl;
}
