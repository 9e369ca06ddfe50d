#pragma once
// A graph as events: event::GraphPart, a few thousand bytes each. For each task: its name's index in the
// part, then each predecessor, as its distance in the order of adding, with the kind of edge. Numbers are
// LEB128 or zigzag, so an edge takes one to three bytes. An edge without data has a kind of its own, which
// the real kind follows, and takes a byte more.

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "libdag/journal/event.hpp"

namespace dag {

class GraphPartWriter {
 public:
  /// A part with so many bytes is full.
  static constexpr std::size_t packed_bytes_max = 16 << 10;
  static constexpr std::size_t names_max = 1024;
  using Emit = std::function<void(TaskId first, event::GraphPart part)>;

  GraphPartWriter(TaskId first, Emit emit) : emit_(std::move(emit)), first_(first), part_first_(first) {}

  /// Adds the next task.
  void task(std::string_view name);
  /// Adds a predecessor of the newest task, by its place among all. `data`: an argument is made from the
  /// predecessor's output.
  void waits_for(std::uint32_t place, std::uint8_t kind, bool data);
  /// Ends the last part.
  void finish();

 private:
  void begin();
  void put(std::uint64_t number);

  const Emit emit_;
  const TaskId first_;
  TaskId part_first_;
  std::uint32_t count_ = 0;  ///< tasks
  std::string name_;         ///< of the newest task
  event::GraphPart part_;
  std::unordered_map<std::string, std::uint32_t> name_index_;
};

struct GraphPartVisitor {
  std::function<void(TaskId task, const std::string& name)> task;
  /// Called for the predecessors of the task that was named last.
  std::function<void(TaskId predecessor, std::uint8_t kind, bool data)> waits_for;
};
/// Ignores other events. False: the part is damaged; its readable beginning was visited.
bool read_graph_part(const JournalEvent& record, const GraphPartVisitor& visitor);

}  // namespace dag
