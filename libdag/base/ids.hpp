#pragma once
// Ids of things that live in several processes. An id is a type: a TaskId cannot be passed where a ProcessId
// is wanted. Each prints in one way everywhere, so a grep follows a task across nodes.

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dag {

/// A job of the cluster: its node in the high half (0 where there is no cluster), its count there in the low
/// one. So the id tells which node to ask.
struct JobId {
  std::uint64_t value = 0;
  constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(value >> 32); }
  constexpr std::uint32_t count() const { return static_cast<std::uint32_t>(value); }
  auto operator<=>(const JobId&) const = default;
};

/// A task of a job. Origin 0 is the submitted graph, whose tasks are numbered as they were added; origin s+1
/// are the tasks spawned in shard s, numbered by its home, which gives no number twice.
struct TaskId {
  std::uint32_t origin = 0;
  std::uint32_t index = 0;
  auto operator<=>(const TaskId&) const = default;
};

/// A process of the cluster. Below 65535 a node; else the low 16 bits are the node of a worker process and
/// the high ones its count there, from 1; with 65535 in the low ones a client. Its meaning ends with its
/// incarnation.
struct ProcessId {
  std::uint32_t value = 0;
  auto operator<=>(const ProcessId&) const = default;
};

/// The node that a process belongs to, which may be itself.
constexpr ProcessId node_of(ProcessId process) { return {process.value & 0xFFFF}; }

/// Grows at each start of a process; messages for or from an older one are refused.
struct Incarnation {
  std::uint32_t value = 0;
  auto operator<=>(const Incarnation&) const = default;
};

/// A life of a process.
struct Life {
  ProcessId process;
  Incarnation incarnation;
  auto operator<=>(const Life&) const = default;
};

/// Which recount of a shard's rows: the term of the cell's leader, and the count in that term. Compared in
/// this order, so an epoch is unique without being logged.
struct Epoch {
  std::uint32_t term = 0;
  std::uint32_t count = 0;
  auto operator<=>(const Epoch&) const = default;
};

/// An attempt of a task: the epoch of the home that issued it, and its count there. Never given twice, never
/// derived from another home's last number. Number 0 of epoch {0,0} means "none".
struct AttemptId {
  Epoch epoch;
  std::uint32_t number = 0;
  auto operator<=>(const AttemptId&) const = default;
  explicit operator bool() const { return *this != AttemptId{}; }
};

/// The later of two attempts of a task has the greater token (Context::fencing_token). The terms of epochs
/// that homes are given are all the same.
constexpr std::uint64_t fencing_token(AttemptId id) {
  return std::uint64_t{id.epoch.count} << 32 | id.number;
}

std::string to_string(JobId id);      // job7; job2.7 where the record is at node 2
std::string to_string(TaskId id);     // 41, or s2/41 for a spawned one
std::string to_string(ProcessId id);  // n1, n1/w3, client3
std::string to_string(Life life);     // n1.2
std::string to_string(Epoch epoch);   // 1.3
std::string to_string(AttemptId id);  // #1.3.2

/// Parses job2.7, 2.7, job7 or 7. Empty for other texts.
std::optional<JobId> parse_job_id(std::string_view text);
/// Parses the text of to_string.
std::optional<TaskId> parse_task_id(std::string_view text);
std::optional<AttemptId> parse_attempt_id(std::string_view text);

}  // namespace dag

template <>
struct std::hash<dag::TaskId> {
  std::size_t operator()(dag::TaskId id) const noexcept {
    return (static_cast<std::size_t>(id.origin) << 32 | id.index) * 0x9E3779B97F4A7C15ULL;
  }
};
