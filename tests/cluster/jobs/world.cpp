// A job whose kernel says what it finds of its client's world: the variables that its arguments name, and
// some soft limits.
#include <sys/resource.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>
#include <vector>

static std::string look(const std::vector<std::string>& names) {
  std::string found;
  for (const std::string& name : names) {
    const char* value = std::getenv(name.c_str());
    found += name + (value == nullptr ? " is not set\n" : "=" + std::string(value) + "\n");
  }
  for (const auto which : {RLIMIT_CORE, RLIMIT_CPU}) {
    rlimit limit{};
    getrlimit(which, &limit);
    found += "limit " + std::to_string(limit.rlim_cur) + "\n";
  }
  return found;
}

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("world");
  const auto found = graph.task("look", look, std::vector<std::string>(argv + 1, argv + argc));
  std::cout << session.submit(graph).get(found);
}
