// A job for the cluster tests: large values that cross processes, one of them to the client after the job has
// ended.
//
//   bulky [MIB [SECONDS]]   says `in place N`, how many were read in another process's memory, `result N`,
//   then `idle`, and ends when SECONDS have passed or its input has ended

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dag/dag.hpp>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::uint64_t>;

/// Of another process: what is our own can be written.
bool only_to_read(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    char permissions[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &from, &to, permissions) != 3) continue;
    if (from <= wanted && wanted < to) return permissions[1] == '-';
  }
  return false;
}

/// Two of these are put into two processes, so what one makes the other has to fetch.
struct Mill {
  std::uint64_t factor = 1;
  Words grind(std::uint64_t mebibytes, std::uint64_t seed) {
    Words words(mebibytes << 17);
    for (std::uint64_t& word : words) word = seed = seed * 6364136223846793005ULL + factor++;
    return words;
  }
  Words turn(const dag::Ref<Words>& from) {
    in_place += only_to_read(from.blob().bytes().data()) ? 1 : 0;
    Words words = *from;
    for (std::uint64_t& word : words) word = word * 31 + 7;
    return words;
  }
  std::uint64_t read_in_place() { return in_place; }
  std::uint64_t in_place = 0;
};

std::uint64_t digest(const Words& words) {
  std::uint64_t all = words.size();
  for (const std::uint64_t word : words) all = all * 1099511628211ULL + word;
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::uint64_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 0;
  dag::Graph graph("bulky");
  auto red = graph.actor<Mill>("red");
  auto green = graph.actor<Mill>("green");
  auto blue = graph.actor<Mill>("blue");
  const auto made = red.call<&Mill::grind>(mebibytes, std::uint64_t{1});
  const auto turned = green.call<&Mill::turn>(made);
  const auto twice = blue.call<&Mill::turn>(turned);
  const auto by_green = green.call<&Mill::read_in_place>();
  const auto by_blue = blue.call<&Mill::read_in_place>();
  const auto sum = graph.task("digest", digest, twice);

  const dag::Job job = session.submit(graph);
  const std::uint64_t there = job.get(sum);
  job.wait();
  const std::uint64_t here = digest(job.get(twice));
  std::cout << "in place " << job.get(by_green) + job.get(by_blue) << std::endl;
  std::cout << "result " << there << (here == there ? "" : " but here another") << std::endl;
  std::cout << "idle" << std::endl;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (seconds > 0) poll(&input, 1, seconds * 1000);
}
