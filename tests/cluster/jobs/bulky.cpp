// A job for the cluster tests: large values that cross processes, one of them to the client after the job has
// ended.
//
//   bulky [MIB [SECONDS]]   says `result N`, then `idle`, and ends when SECONDS have passed or its input has
//   ended

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <vector>

namespace {

using Words = std::vector<std::uint64_t>;

/// Where these live is the homes' choice; the client has to fetch what they make in any case.
struct Mill {
  std::uint64_t factor = 1;
  Words grind(std::uint64_t mebibytes, std::uint64_t seed) {
    Words words(mebibytes << 17);
    for (std::uint64_t& word : words) word = seed = seed * 6364136223846793005ULL + factor++;
    return words;
  }
  Words turn(const dag::Ref<Words>& from) {
    Words words = *from;
    for (std::uint64_t& word : words) word = word * 31 + 7;
    return words;
  }
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
  const auto sum = graph.task("digest", digest, twice);

  const dag::Job job = session.submit(graph);
  const std::uint64_t there = job.get(sum);
  job.wait();
  const std::uint64_t here = digest(job.get(twice));
  std::cout << "result " << there << (here == there ? "" : " but here another") << std::endl;
  std::cout << "idle" << std::endl;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (seconds > 0) poll(&input, 1, seconds * 1000);
}
