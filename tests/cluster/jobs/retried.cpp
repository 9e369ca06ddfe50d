// A job of which a task fails until there is a file, for tests of what runs again. Each task adds a line to
// the file of its name when it runs.
//
//   retried FOLDER chain     broken needs small, kept and large; after needs broken; alone needs nothing
//   retried FOLDER actor     a call of a job actor fails, after one that finished
//   retried FOLDER spawned   well spawns a child, and a child of ill fails

#include <dag/dag.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int numbers = 20'000;  // Too many for a record.

void runs(const std::string& folder, const std::string& name) {
  std::ofstream(folder + "/" + name, std::ios::app) << "ran\n";
}

void fail_until_good(const std::string& folder) {
  if (std::filesystem::exists(folder + "/good")) return;
  throw dag::Failure({dag::ErrorCode::task_failed, "there is no file", "make it"});
}

std::vector<int> many(std::string folder, std::string name) {
  runs(folder, name);
  return std::vector<int>(numbers, 1);
}

int few(std::string folder, std::string name) {
  runs(folder, name);
  return 1;
}

int broken(std::string folder, int small, std::vector<int> kept, std::vector<int> large) {
  runs(folder, "broken");
  fail_until_good(folder);
  return small + static_cast<int>(kept.size() + large.size());
}

int child(std::string folder, std::string name, bool fails) {
  runs(folder, name);
  if (fails) fail_until_good(folder);
  return 1;
}

dag::Output<int> parent(dag::Context& context, std::string folder, std::string name, bool fails) {
  runs(folder, name);
  return context.spawn("child", child, folder, "child_of_" + name, fails);
}

class Counter {
 public:
  explicit Counter(std::string folder) : folder_(std::move(folder)) { runs(folder_, "create"); }
  int add(int number, std::string name, bool fails) {
    runs(folder_, name);
    if (fails) fail_until_good(folder_);
    return sum_ += number;
  }

 private:
  std::string folder_;
  int sum_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string folder = argv[1], what = argv[2];
  dag::Graph graph("retried");
  using namespace std::string_literals;
  if (what == "chain") {
    const auto small = graph.task("small", few, folder, "small"s);
    const auto kept = graph.task("kept", many, folder, "kept"s).keep();
    const auto large = graph.task("large", many, folder, "large"s);
    const auto sum = graph.task("broken", broken, folder, small, kept, large);
    graph.task(
        "after",
        [](std::string place, int number) {
          runs(place, "after");
          return number;
        },
        folder, sum);
    graph.task("alone", few, folder, "alone"s);
  } else if (what == "actor") {
    const auto counter = graph.actor<Counter>("counter", folder);
    counter.call<&Counter::add>(1, "first"s, false);
    counter.call<&Counter::add>(2, "second"s, true);
  } else {
    graph.task("well", parent, folder, "well"s, false);
    graph.task("ill", parent, folder, "ill"s, true);
  }
  session.submit(graph).wait();
}
