// A job whose kernels use globals: what main sets before its Session or behind it, as its first argument
// says, or what kernels count.
#include <dag/dag.hpp>
#include <iostream>
#include <stdexcept>
#include <string_view>

static int scale = 1;
static int counter = 0;

int main(int argc, char** argv) {
  const std::string_view set = argc > 1 ? argv[1] : "";
  if (set == "before") scale = 10;
  dag::Session session(argc, argv);
  if (set == "behind") scale = 10;
  dag::Graph graph("globals");
  const auto two = graph.task("two", [](dag::Context& context) {
    context.log("heard");
    return 2;
  });
  const auto scaled = graph.task(
      "scaled",
      [](int value, bool needed) {
        if (needed && scale == 1) throw std::runtime_error("no scale");
        return value * scale;
      },
      two, set == "behind" && argc > 2 && std::string_view(argv[2]) == "needed");
  const auto last = graph.task(
      "last", [](int value) { return value + 1; }, scaled);
  if (set == "counted") graph.task("counted", [] { return ++counter; });
  std::cout << session.submit(graph).get(last) << "\n";
}
