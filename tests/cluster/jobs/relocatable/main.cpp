// A job that finds a library of its own in its own directory, wherever that is.
#include <dag/dag.hpp>
#include <iostream>

int number_beside();

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("relocatable");
  const auto number = graph.task("number", [] { return number_beside(); });
  std::cout << session.submit(graph).get(number) << std::endl;
}
