#pragma once
// The names of things that live in several processes. An id is a type: a TaskId cannot be passed where a
// ProcessId is wanted. Each prints one way everywhere, so a grep follows a task across nodes.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace dag {

/// A job of the cluster. Drawn at random by the client (high bits), so two clients never collide.
struct JobId {
  std::uint64_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

/// A task of a job. Origin 0 is the submitted graph, whose tasks are numbered as they were added; origin s+1
/// are the tasks spawned in shard s, numbered by its home, which gives no number twice.
struct TaskId {
  std::uint32_t origin = 0;
  std::uint32_t index = 0;
  auto operator<=>(const TaskId&) const = default;
};

/// A node process or worker process of the cluster. Its meaning ends with its incarnation.
struct ProcessId {
  std::uint32_t value = 0;
  auto operator<=>(const ProcessId&) const = default;
};

/// Grows at each start of a process; messages for or from an older one are refused.
struct Incarnation {
  std::uint32_t value = 0;
  auto operator<=>(const Incarnation&) const = default;
};

/// One life of one process.
struct Life {
  ProcessId process;
  Incarnation incarnation;
  auto operator<=>(const Life&) const = default;
};

/// Which count of a shard's rows is meant: the term of the cell's leader, and the count in that term.
/// Compared in this order, so an epoch is unique without being logged.
struct Epoch {
  std::uint32_t term = 0;
  std::uint32_t count = 0;
  auto operator<=>(const Epoch&) const = default;
};

/// One try of a task: the epoch of the home that issued it, and its count there. Never given twice, never
/// derived from "the last one plus one" of somebody else. Number 0 of epoch {0,0} means "none".
struct AttemptId {
  Epoch epoch;
  std::uint32_t number = 0;
  auto operator<=>(const AttemptId&) const = default;
  explicit operator bool() const { return *this != AttemptId{}; }
};

std::string to_string(JobId id);      // job7
std::string to_string(TaskId id);     // 41, or s2/41 for a spawned one
std::string to_string(ProcessId id);  // n1
std::string to_string(Life life);     // n1.2
std::string to_string(Epoch epoch);   // 1.3
std::string to_string(AttemptId id);  // #1.3.2

}  // namespace dag

template <>
struct std::hash<dag::TaskId> {
  std::size_t operator()(dag::TaskId id) const noexcept {
    return (static_cast<std::size_t>(id.origin) << 32 | id.index) * 0x9E3779B97F4A7C15ULL;
  }
};
