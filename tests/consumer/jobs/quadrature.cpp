// Integrates a function: a task whose interval is too coarse becomes two tasks and their sum, as deep as
// needed.
#include <cmath>
#include <dag/dag.hpp>
#include <iostream>
#include <vector>

struct Interval {
  double from = 0, to = 0;
  double middle() const { return (from + to) / 2; }
  double width() const { return to - from; }
};

double f(double x) { return 4 / (1 + x * x); }
double simpson(const Interval& over) {
  return over.width() / 6 * (f(over.from) + 4 * f(over.middle()) + f(over.to));
}
double sum(double left, double right) { return left + right; }

dag::Output<double> integrate(dag::Context& context, Interval over, double tolerance) {
  const Interval left{over.from, over.middle()}, right{over.middle(), over.to};
  const double fine = simpson(left) + simpson(right);
  if (std::abs(fine - simpson(over)) < tolerance) {
    return context.spawn(
        "leaf", [](double value) { return value; }, fine);
  }
  context.progress(over.from, "halved");
  return context.spawn("sum", sum, context.spawn("integrate", integrate, left, tolerance / 2),
                       context.spawn("integrate", integrate, right, tolerance / 2));
}

// prints: 3.14159
int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph g("quadrature");
  std::vector<dag::Output<double>> quarters;
  for (int i = 0; i < 4; ++i)
    quarters.push_back(g.task("integrate", integrate, Interval{i / 4.0, (i + 1) / 4.0}, 1e-9));
  const auto pi = g.task(
      "total",
      [](std::vector<double> parts) {
        double all = 0;
        for (const double part : parts) all += part;
        return all;
      },
      quarters);
  std::cout << session.submit(g).get(pi) << '\n';
}
