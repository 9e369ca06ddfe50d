// A kernel that makes a Session of its own, which it must not.

#include <dag/dag.hpp>
#include <iostream>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph g("nested");
  const auto inner = g.task("inner", [] {
    int none = 0;
    char* words[] = {nullptr};
    dag::Session another(none, words);
    return 1;
  });
  try {
    session.submit(g).get(inner);
  } catch (const dag::Failure& failure) {
    std::cout << failure.what() << '\n';
  }
}
