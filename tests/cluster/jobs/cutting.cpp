// A harmful job: its kernels cut off or write over each file that their process has open, except those it was
// started with, and then wait for ever; other tasks follow. `cutting cut|scribble`. Prints the error of the
// first task, then `sum N`.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

void harm(int file, bool cut) {
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return;
  if (cut) {
    if (ftruncate(file, 0) != 0) return;
  } else {
    const std::vector<char> noise(static_cast<std::size_t>(about.st_size), '\xff');
    if (pwrite(file, noise.data(), noise.size(), 0) < 0) return;
  }
}

int attack(dag::Context& context, std::string how) {
  for (int file = 3; file < 1024; ++file) harm(file, how == "cut");
  while (!context.cancelled()) ledger::work();
  return 0;
}

int number(int of) { return of; }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  dag::Graph attacks("attack");
  const auto attacked =
      attacks.task("attack", attack, std::string(argv[1])).timeout(std::chrono::milliseconds(300));
  try {
    std::cout << session.submit(attacks).get(attacked) << std::endl;
  } catch (const std::exception& failed) {
    std::cout << "attack: " << failed.what() << std::endl;
  }
  dag::Graph after("after");
  const auto seven = after.task("seven", number, 7);
  std::cout << "after " << session.submit(after).get(seven) << std::endl;
}
