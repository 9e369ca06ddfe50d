// Mistakes that the compiler finds, one per number in MISTAKE: run.sh compiles each and reads the first
// error, which is the sentence behind the number below. Number 0 is the same program without any.
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
struct Other {
  int add(int n) { return n; }
};
struct Named {
  int n = 0;
  char name[64] = {};
};
struct Words {
  int n = 0;
  std::vector<std::string> words[3];
};
struct Base {
  int n = 0;
};
struct Derived : Base {
  int m = 0;
};
struct Labelled {
  int n = 0;
  const char* label = nullptr;
};
struct Viewing {
  int n = 0;
  std::optional<std::string_view> name;
};
struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
int twice(int n) { return 2 * n; }

void mistakes() {
  dag::Graph graph("mistakes");
  auto one = graph.task("one", [] { return 1; });
  auto nothing = graph
                     .task(
                         "nothing", [](int) {}, one)
                     .effects(dag::idempotent);
  auto ledger = graph.actor<Ledger>("ledger");
  static_cast<void>(ledger.call<&Ledger::add>(one));
  const auto cells = graph.family("cells", dag::Range{2, 2}, [](dag::Point at) { return at.row; }, {});
  [[maybe_unused]] int outside = 2;
#if MISTAKE == 1  // a task's lambda may not capture
  graph.task(
      "captures", [outside](int n) { return n + outside; }, one);
#elif MISTAKE == 2   // this type cannot travel between tasks
  graph.task(
      "opaque", [](int n) { return Opaque(n); }, one);
#elif MISTAKE == 3   // this type cannot travel between tasks
  graph.task(
      "opaque", [](const Opaque& given) { return *given.number; }, Opaque(1));
#elif MISTAKE == 4   // a task that returns nothing must declare its effects
  auto silent = graph.task(
      "silent", [](int) {}, one);  // Not used, it is refused when the graph is submitted.
  graph.task(
      "after", [](int) { return 1; }, silent);
#elif MISTAKE == 5   // type mismatch
  graph.task(
      "text", [](const std::string& text) { return text.size(); }, one);
#elif MISTAKE == 6   // too few arguments
  graph.task(
      "two", [](int a, int b) { return a + b; }, one);
#elif MISTAKE == 7   // to be saved, a job actor's class needs
  static_cast<void>(ledger.save());
#elif MISTAKE == 8   // the first parameter of a family's kernel
  graph.family("cell", dag::Range{2, 2}, [](int n) { return n; }, {});
#elif MISTAKE == 9   // a family's kernel takes a dag::Point
  graph.family("cell", dag::Range{2, 2}, [](dag::Point, std::vector<int>, int) { return 1; }, {});
#elif MISTAKE == 10  // too few arguments
  graph.task("none", twice);
#elif MISTAKE == 11  // too many arguments
  graph.task("twice", twice, one, one);
#elif MISTAKE == 12  // a C array cannot travel between tasks
  graph.task(
      "named", [](const Named& given) { return given.n; }, Named{});
#elif MISTAKE == 13  // a C array cannot travel between tasks
  graph.task(
      "words", [](int n) { return std::vector<Words>(static_cast<std::size_t>(n)); }, one);
#elif MISTAKE == 14  // a struct with a base class cannot travel between tasks
  graph.task(
      "derived",
      [](int n) {
        return Derived{{n}, n};
      },
      one);
#elif MISTAKE == 15  // a struct with a base class cannot travel between tasks
  graph.task(
      "derived", [](const std::map<int, Derived>& given) { return given.size(); }, std::map<int, Derived>{});
#elif MISTAKE == 16  // a kernel takes dag::Context by reference
  graph.task(
      "context", [](dag::Context, int n) { return n; }, one);
#elif MISTAKE == 17  // a kernel takes dag::Context by reference
  graph.task(
      "context", [](const dag::Context&, int n) { return n; }, one);
#elif MISTAKE == 18  // a kernel takes dag::Context by reference
  graph.task(
      "context", [](int n, dag::Context&) { return n; }, one);
#elif MISTAKE == 19  // a char pointer cannot travel between tasks
  graph.task(
      "text", [](const char* text) { return std::string(text); }, "text");
#elif MISTAKE == 20  // a char pointer cannot travel between tasks
  graph.task("text", [] { return "text"; });
#elif MISTAKE == 21  // a char pointer cannot travel between tasks
  graph.task(
      "labelled", [](const Labelled& given) { return given.n; }, Labelled{});
#elif MISTAKE == 22  // a pointer cannot travel between tasks
  graph.task(
      "pointer", [](const int* n) { return *n; }, &outside);
#elif MISTAKE == 23  // a result may not be a view
  graph.task(
      "view", [](const std::string& text) -> std::string_view { return text; }, "text");
#elif MISTAKE == 24  // a result may not be a view
  graph.task(
      "view", [](const std::vector<int>& all) { return std::span<const int>(all); }, std::vector<int>{1});
#elif MISTAKE == 25  // a result may not be a view
  graph.task(
      "view",
      [](int n) {
        return Viewing{n, "text"};
      },
      one);
#elif MISTAKE == 26  // a kernel may not write to its inputs
  graph.task(
      "writes", [](std::span<int> all) { return all.size(); }, std::vector<int>{1});
#elif MISTAKE == 27  // a kernel takes its inputs by value or by const reference
  graph.task(
      "writes", [](std::vector<int>& all) { return all.size(); }, std::vector<int>{1});
#elif MISTAKE == 28  // the parameter for a vector of handles, or for a Family, must be a std::vector
  graph.task(
      "family", [](std::uint32_t n) { return n; }, cells);
#elif MISTAKE == 29  // a job actor is made from values
  graph.actor<Ledger>("family", cells);
#elif MISTAKE == 30  // the job actor cannot be made from these arguments
  graph.actor<Ledger>("text", "text");
#elif MISTAKE == 31  // a call of a job actor names a method of its class
  static_cast<void>(ledger.call<&Other::add>(1));
#elif MISTAKE == 32  // too few arguments
  static_cast<void>(ledger.call<&Ledger::add>());
#elif MISTAKE == 33  // a kernel may return the handle of one task
  graph.task("many", [](dag::Context& context) { return std::vector{context.spawn("twice", twice, 1)}; });
#elif MISTAKE == 34  // the condition of .only_if takes the output
  graph.task("twice", twice, one).only_if(one, [](const std::string& text) { return text.empty(); });
#elif MISTAKE == 35  // a struct of more than 16 members cannot travel between tasks
  graph.task(
      "many", [](const Many& many) { return many.a; }, Many{});
#elif MISTAKE == 36  // a family takes values, outputs and families
  graph.family(
      "cell", dag::Range{2, 2}, [](dag::Point, std::vector<int> n) { return n.size(); }, {},
      std::vector{one});
#elif MISTAKE == 37  // a kernel is a function or a lambda whose parameters have types
  graph.task(
      "auto", [](auto n) { return n; }, one);
#elif MISTAKE == 38  // a task that returns nothing must declare its effects
  graph.task("twice", twice, one)
      .after(graph
                 .task(
                     "silent", [](int) {}, one)
                 .needs({.cpus = 1}));
#elif MISTAKE == 39  // this task returns nothing that could be an argument
  graph.task("twice", twice, nothing);
#elif MISTAKE == 40  // a char pointer cannot travel between tasks
  dag::Writer writer;
  dag::encode(writer, static_cast<const char*>("text"));
#elif MISTAKE == 41  // a C array cannot travel between tasks
  dag::Writer writer;
  dag::encode(writer, "text");
#elif MISTAKE == 42  // too few arguments
  graph.task(
      "context", [](dag::Context& context, int n, int m) { return context.attempt() + n + m; }, 1);
#endif
}
