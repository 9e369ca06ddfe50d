// The first job of the documentation, as its reader would type it.
#include <dag/dag.hpp>
#include <iostream>
int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph g("hello");
  auto hi = g.task("hi", [] { return std::string("hello"); });
  auto len = g.task(
      "len", [](std::string t) { return t.size(); }, hi);
  std::cout << session.submit(g).get(len) << '\n';
}
