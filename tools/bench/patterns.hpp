#pragma once
// The task graphs of Task Bench (Slaughter et al., "Task Bench: A Parameterized Benchmark for Evaluating
// Parallel Runtime Performance", SC'20): steps of points, each task (step, point) waiting for points of the
// step before. This file has the relations, as formulas and as a table; patterned_task.hpp has the tasks.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tools/bench/shapes.hpp"

namespace dag::bench {

class Pattern {
 public:
  enum class Kind {
    trivial,     ///< nobody waits
    no_comm,     ///< for the same point
    stencil_1d,  ///< and both neighbours
    dom,         ///< for the same point and its left neighbour; the width grows to the middle, then shrinks
    tree,        ///< for the parent; the width doubles each step
    fft,         ///< butterflies: the same point and those 2^k away, another k each step
    all_to_all,  ///< for all
    nearest,     ///< for `radix` points around
    spread,      ///< for `radix` points at equal distances, moved by one each step
    random_nearest,  ///< for the same point, and for those around with a chance, drawn anew each step
  };
  static constexpr std::array<std::string_view, 10> names = {
      "trivial", "no_comm",    "stencil_1d", "dom",    "tree",
      "fft",     "all_to_all", "nearest",    "spread", "random_nearest"};

  struct Options {
    std::uint32_t width = 0, steps = 0, radix = 5;
  };

  Pattern(Kind kind, Options options) : kind_(kind), options_(options) {}
  static std::optional<Pattern> by_name(std::string_view name, Options options) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return Pattern(static_cast<Kind>(found - names.begin()), options);
  }

  std::uint32_t steps() const { return options_.steps; }
  std::uint32_t width() const { return options_.width; }
  /// The points of a step are first(step) ... end(step) - 1.
  std::uint32_t first(std::uint32_t step) const {
    if (kind_ != Kind::dom || step + width() <= steps()) return 0;
    return step + width() - steps();
  }
  std::uint32_t end(std::uint32_t step) const {
    std::uint32_t count = width();
    if (kind_ == Kind::dom) count = std::min({width(), step + 1, steps() - step});
    if (kind_ == Kind::tree && step < 31) count = std::min(width(), 1u << step);
    return first(step) + count;
  }

  /// The points of the step before that (step, point) waits for, rising; none at step 0.
  std::vector<std::uint32_t> predecessors(std::uint32_t step, std::uint32_t point) const {
    if (step == 0) return {};
    return related(step, point, first(step - 1), end(step - 1), true);
  }
  /// The points of the next step that wait for (step, point), rising.
  std::vector<std::uint32_t> successors(std::uint32_t step, std::uint32_t point) const {
    if (step + 1 >= steps()) return {};
    return related(step + 1, point, first(step + 1), end(step + 1), false);
  }

 private:
  static constexpr std::uint32_t period = 3;  // of spread and random_nearest: afterwards the steps repeat
  static constexpr double chance_of_neighbour = 0.25;

  /// The points `other` in [from, to) that are joined with `point` by an edge into `step`; `backwards` when
  /// `point` is the edge's end.
  std::vector<std::uint32_t> related(std::uint32_t step, std::uint32_t point, std::uint32_t from,
                                     std::uint32_t to, bool backwards) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t other = from; other < to; ++other) {
      if (backwards ? joined(step, other, point) : joined(step, point, other)) found.push_back(other);
    }
    return found;
  }

  /// True: (step, after) waits for (step - 1, before).
  bool joined(std::uint32_t step, std::uint32_t before, std::uint32_t after) const {
    const auto distance = static_cast<std::int64_t>(after) - before;  // above zero: from the left
    const std::int64_t radix = options_.radix, wide = width();
    const bool near = distance <= radix / 2 && -distance <= (radix - 1) / 2;
    switch (kind_) {
      case Kind::trivial:
        return false;
      case Kind::no_comm:
        return distance == 0;
      case Kind::stencil_1d:
        return distance >= -1 && distance <= 1;
      case Kind::dom:
        return distance == 0 || distance == 1;
      case Kind::tree:
        return before == after / 2;
      case Kind::fft: {
        const auto stages = static_cast<std::uint32_t>(std::bit_width(width() - 1));
        const std::int64_t reach = stages == 0 ? 0 : std::int64_t{1} << ((step + stages - 1) % stages);
        return distance == 0 || distance == reach || distance == -reach;
      }
      case Kind::all_to_all:
        return true;
      case Kind::nearest:
        return near;
      case Kind::spread:
        for (std::int64_t i = 0; i < radix; ++i) {
          if ((after + i * wide / radix + (i > 0 ? step % period : 0)) % wide == before) return true;
        }
        return false;
      case Kind::random_nearest: {
        if (distance == 0) return true;
        const std::uint64_t drawn = mix(mix(mix(step % period) + before) + after);
        return near && static_cast<double>(drawn >> 11) * 0x1p-53 < chance_of_neighbour;
      }
    }
    return false;
  }

  Kind kind_;
  Options options_;
};

/// All tasks of a pattern, numbered step by step, with their predecessors. Made before anything is timed, in
/// every program, so that no runner pays for the formulas.
class PatternTable {
 public:
  struct Place {
    std::uint32_t step = 0, point = 0;
    bool operator==(const Place&) const = default;
  };

  explicit PatternTable(const Pattern& pattern) : width_(pattern.width()) {
    for (std::uint32_t step = 0; step < pattern.steps(); ++step) {
      first_of_step_.push_back(size());
      for (std::uint32_t point = pattern.first(step); point < pattern.end(step); ++point) {
        first_predecessor_.push_back(static_cast<std::uint32_t>(predecessors_.size()));
        for (const std::uint32_t before : pattern.predecessors(step, point)) {
          predecessors_.push_back(first_of_step_[step - 1] + before - pattern.first(step - 1));
        }
        places_.push_back({step, point});
      }
    }
    first_of_step_.push_back(size());
    first_predecessor_.push_back(static_cast<std::uint32_t>(predecessors_.size()));
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(first_of_step_.size() - 1); }
  std::uint32_t width() const { return width_; }
  Place place(std::uint32_t task) const { return places_[task]; }
  /// The tasks of a step: first_of(step) ... first_of(step + 1) - 1.
  std::uint32_t first_of(std::uint32_t step) const { return first_of_step_[step]; }
  std::span<const std::uint32_t> predecessors(std::uint32_t task) const {
    const std::uint32_t first = first_predecessor_[task];
    return {predecessors_.data() + first, first_predecessor_[task + 1] - first};
  }

 private:
  std::uint32_t width_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> first_of_step_, first_predecessor_, predecessors_;
};

}  // namespace dag::bench
