// child FILE [MARK] : a kernel that waits for a command, which writes its number into FILE; the command leads
// a session of its own, and has a parent that does not wait for it.

#include <cstdlib>
#include <dag/dag.hpp>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("child");
  const auto waits = graph.task(
      "child",
      [](std::string file) {
        return std::system(
            ("setsid sh -c 'trap \"\" TERM; echo $$ >> " + file + "; while :; do sleep 1000; done'").c_str());
      },
      std::string(argv[1]));
  return session.submit(graph).get(waits);
}
