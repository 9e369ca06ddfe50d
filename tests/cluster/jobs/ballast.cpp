// A job for the cluster tests whose graph is large: what it is made of lies in its record.
//
//   ballast MIB   says `size N`

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("ballast");
  const auto size = graph.task(
      "size", [](const std::string& text) { return text.size(); },
      std::string(std::strtoull(argv[1], nullptr, 10) << 20, 'x'));
  std::cout << "size " << session.submit(graph).get(size) << std::endl;
}
