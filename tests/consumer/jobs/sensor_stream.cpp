// Streams batches of readings through stages: each stage is a job actor, so batches stay in order while
// the stages work side by side; what comes out is taken as it ends.
#include <cmath>
#include <dag/dag.hpp>
#include <deque>
#include <iostream>
#include <numeric>
#include <vector>

using Batch = std::vector<float>;

Batch read_batch(std::uint32_t number, std::size_t size) {
  Batch batch(size, static_cast<float>(number) + 5.0F);
  if (number % 4 == 3) batch.front() = 1000.0F;  // A disturbance.
  return batch;
}

/// Removes what lies far away from what came before.
class Filter {
 public:
  Batch clean(Batch batch) {
    for (float& value : batch) {
      if (std::abs(value - level_) > 100.0F) {
        value = level_ + 1.0F;
        ++removed_;
      }
    }
    if (!batch.empty()) level_ = batch.back();
    return batch;
  }
  std::uint32_t removed() const noexcept { return removed_; }

 private:
  float level_ = 5.0F;
  std::uint32_t removed_ = 0;
};

/// The mean of the last batches.
class Window {
 public:
  explicit Window(std::size_t size) : size_(size) {}
  double add(std::span<const float> batch) {
    const double sum = std::accumulate(batch.begin(), batch.end(), 0.0);
    means_.push_back(batch.empty() ? 0.0 : sum / static_cast<double>(batch.size()));
    if (means_.size() > size_) means_.pop_front();
    return std::accumulate(means_.begin(), means_.end(), 0.0) / static_cast<double>(means_.size());
  }

 private:
  std::size_t size_;
  std::deque<double> means_;
};

// prints: 12 batches, 3 alarms, mean 10.5, last window 11.5
int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  dag::Session session(argc, argv);
  dag::Graph g("sensor-stream");
  const auto filter = g.actor<Filter>("filter");
  const auto window = g.actor<Window>("window", std::size_t{10});
  constexpr std::uint32_t batches = 12;
  std::vector<dag::Output<double>> means;
  for (std::uint32_t i = 0; i < batches; ++i) {
    const auto batch =
        g.task("read", read_batch, i, std::size_t{64}).takes(1ms).priority(dag::high).timeout(1min);
    means.push_back(window.call<&Window::add>(filter.call<&Filter::clean>(batch)));
  }
  const auto removed = filter.call<&Filter::removed>();
  const auto smooth = g.family(
      "smooth", dag::Range{2, 3},
      [](dag::Point at, std::vector<double> before, double start) {
        return at.row == 0
                   ? start + at.column
                   : std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(before.size());
      },
      {{-1, -1}, {-1, 0}, {-1, 1}}, means.back());
  const auto mean = g.task(
      "mean", [](std::vector<double> all) { return all.at(4); }, smooth);
  const dag::Job job = session.submit(g);
  std::size_t count = 0;
  for (const auto& each : session.as_completed(means)) {
    static_cast<void>(job.get(each, 1min));
    ++count;
  }
  const double last = job.get(means.back());
  std::cout << count << " batches, " << job.get(removed) << " alarms, mean " << last - 1 << ", last window "
            << job.get(mean) - 1 << '\n';
}
