// A job whose tasks spawn without end: each task of `endless FILE` appends a byte to that file and spawns two
// that do the same. `endless FILE one` has a single kernel that appends a byte, spawns, and never returns by
// itself.

#include <fcntl.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <stdexcept>
#include <string>

namespace {

int file = -1;  ///< in each process, from its arguments

void note_run() {
  if (write(file, "x", 1) != 1) throw std::runtime_error("cannot write the file");
}

int spread(dag::Context& context) {
  note_run();
  context.spawn("spread", spread);
  context.spawn("spread", spread);
  return 1;
}

int endless(dag::Context& context) {
  note_run();
  for (;;) context.spawn("small", [] { return 1; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dag::Session session(argc, argv);
  dag::Graph graph("endless");
  if (argc > 2 && std::string(argv[2]) == "one") {
    graph.task("endless", endless);
  } else {
    graph.task("spread", spread);
  }
  session.submit(graph).wait();
}
