// Mistakes that the compiler finds, one per number in MISTAKE: run.sh compiles each and reads the message,
// which follows the number below. Number 0 is the same program without any.
#include <dag/dag.hpp>
#include <memory>

struct Opaque {
  explicit Opaque(int n) : number(std::make_unique<int>(n)) {}
  Opaque(Opaque&&) = default;
  std::unique_ptr<int> number;
};
struct Ledger {
  int total = 0;
  int add(int n) { return total += n; }
};

void mistakes() {
  dag::Graph graph("mistakes");
  auto one = graph.task("one", [] { return 1; });
  auto nothing = graph
                     .task(
                         "nothing", [](int) {}, one)
                     .effects(dag::idempotent);
  auto ledger = graph.actor<Ledger>("ledger");
  static_cast<void>(ledger.call<&Ledger::add>(one));
  [[maybe_unused]] int outside = 2;
#if MISTAKE == 1  // a task's lambda may not capture
  graph.task(
      "captures", [outside](int n) { return n + outside; }, one);
#elif MISTAKE == 2  // the kernel's result cannot travel between tasks
  graph.task(
      "opaque", [](int n) { return Opaque(n); }, one);
#elif MISTAKE == 3  // this type cannot travel between tasks
  graph.task(
      "opaque", [](const Opaque& given) { return *given.number; }, Opaque(1));
#elif MISTAKE == 4  // a task that returns nothing must declare its effects
  auto silent = graph.task(
      "silent", [](int) {}, one);  // Not used, it is refused when the graph is submitted.
  graph.task(
      "after", [](int) { return 1; }, silent);
#elif MISTAKE == 5  // type mismatch
  graph.task(
      "text", [](const std::string& text) { return text.size(); }, one);
#elif MISTAKE == 6  // the task's kernel takes another number of arguments
  graph.task(
      "two", [](int a, int b) { return a + b; }, one);
#elif MISTAKE == 7  // to be saved, a job actor's class needs
  static_cast<void>(ledger.save());
#elif MISTAKE == 8  // the first parameter of a family's kernel
  graph.family("cell", dag::Range{2, 2}, [](int n) { return n; }, {});
#elif MISTAKE == 9  // a family's kernel takes a dag::Point
  graph.family("cell", dag::Range{2, 2}, [](dag::Point, std::vector<int>, int) { return 1; }, {});
#endif
}
