// Leaves numbers: one that another task reads and that is kept, one that is read and large, and their sum.
// `attach JOB`: what another program's job has left.
#include <dag/dag.hpp>
#include <iostream>

namespace {

int attach(dag::Session& session, const std::string& id) {
  const dag::Job job = session.attach(id);
  std::cout << job.get<int>("sum") << ' ' << job.get<int>("kept") << std::endl;
  try {
    std::cout << job.get<std::string>("large").size() << std::endl;
  } catch (const dag::Failure& failure) {
    std::cout << (failure.error().code == dag::ErrorCode::output_released ? "released" : failure.what())
              << std::endl;
  }
  std::cout << (job.wait() ? "well" : "not well") << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc > 2) return attach(session, argv[2]);
  dag::Graph graph("leaving");
  const auto kept = graph.task("kept", [] { return 20; }).keep();
  const auto large = graph.task("large", [] { return std::string(1'000'000, 'x'); });
  const auto sum = graph.task(
      "sum", [](int n, const std::string& text) { return n + static_cast<int>(text.size() / 45'454); }, kept,
      large);
  std::cout << session.submit(graph).get(sum) << std::endl;
  return 0;
}
