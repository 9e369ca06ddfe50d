#pragma once
// The graphs of `dag-bench overhead` and `growth`: the predecessors of each task, as a formula, so that every
// program makes the same graph at the same cost. And the expected digest of a checked run.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dag::bench {

/// SplitMix64's finaliser: a cheap hash in which every bit of the input matters.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Up to three tasks, all with lower numbers and none twice.
struct Predecessors {
  std::array<std::uint32_t, 3> task{};
  std::uint32_t count = 0;

  void add(std::uint32_t one) {
    if (std::find(begin(), end(), one) == end()) task[count++] = one;
  }
  const std::uint32_t* begin() const { return task.data(); }
  const std::uint32_t* end() const { return task.data() + count; }
};

/// A graph of `size` tasks, numbered in an order in which they could run.
class Shape {
 public:
  enum class Kind { chain, tree, stencil, wavefront, random };
  static constexpr std::array<std::string_view, 5> names = {"chain", "tree", "stencil", "wavefront",
                                                            "random"};
  static constexpr std::uint32_t stencil_width = 64;

  Shape(Kind kind, std::uint32_t size) : kind_(kind), size_(size) {
    while (std::uint64_t{side_} * side_ < size) ++side_;
  }
  static std::optional<Shape> by_name(std::string_view name, std::uint32_t size) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return Shape(static_cast<Kind>(found - names.begin()), size);
  }

  std::uint32_t size() const { return size_; }

  Predecessors predecessors(std::uint32_t task) const {
    Predecessors before;
    switch (kind_) {
      case Kind::chain:
        if (task > 0) before.add(task - 1);
        break;
      case Kind::tree:  // Every task but the root waits for its parent.
        if (task > 0) before.add((task - 1) / 2);
        break;
      case Kind::stencil:  // A row waits for the one before it: itself and both neighbours.
        if (task >= stencil_width) {
          const std::uint32_t column = task % stencil_width, above = task - stencil_width;
          if (column > 0) before.add(above - 1);
          before.add(above);
          if (column + 1 < stencil_width) before.add(above + 1);
        }
        break;
      case Kind::wavefront:  // A square: each task waits for those above and to the left.
        if (task >= side_) before.add(task - side_);
        if (task % side_ > 0) before.add(task - 1);
        break;
      case Kind::random:  // Any three of those before, fewer at the beginning.
        for (std::uint64_t i = 0; task > 0 && i < 3; ++i) {
          before.add(static_cast<std::uint32_t>(mix(std::uint64_t{task} * 3 + i) % task));
        }
        break;
    }
    return before;
  }

  /// The tasks that nobody waits for.
  std::vector<std::uint32_t> sinks() const {
    std::vector<bool> has_successor(size_);
    for (std::uint32_t task = 0; task < size_; ++task) {
      for (const std::uint32_t before : predecessors(task)) has_successor[before] = true;
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t task = 0; task < size_; ++task) {
      if (!has_successor[task]) found.push_back(task);
    }
    return found;
  }

 private:
  Kind kind_;
  std::uint32_t size_;
  std::uint32_t side_ = 1;  // of the wavefront's square
};

/// The output of a task of a checked run: a mix of its number and its inputs, so that a missing edge, or a
/// task that ran too early, changes the outputs of the sinks.
inline std::uint64_t checked_value(std::uint32_t task, std::uint64_t sum_of_inputs) {
  return mix(mix(task) + sum_of_inputs);
}

/// The sum over the sinks, given the output of each task.
inline std::uint64_t digest(const Shape& shape, const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint32_t sink : shape.sinks()) sum += values[sink];
  return sum;
}

/// A task's output in a checked run, given the outputs of earlier tasks in `values`.
inline std::uint64_t value_from(const Shape& shape, std::uint32_t task,
                                const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint32_t before : shape.predecessors(task)) sum += values[before];
  return checked_value(task, sum);
}

/// The digest that every checked run must reach: computed in order, without a runtime.
inline std::uint64_t expected_digest(const Shape& shape) {
  std::vector<std::uint64_t> values(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) values[task] = value_from(shape, task, values);
  return digest(shape, values);
}

}  // namespace dag::bench
