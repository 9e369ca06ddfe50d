// A job that no machine can run.
#include <dag/dag.hpp>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("demanding");
  graph.task("glutton", [] { return 1; }).needs({.cpus = 100'000});
  session.submit(graph).wait();
}
