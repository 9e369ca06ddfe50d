#pragma once
// A graph as records: recorded::GraphPart, a few thousand bytes each. Of a task: which of the part's names it
// has, then what it waits for, as how far back that was added, with the kind of edge; all in as few bytes as
// the numbers need (LEB128, zigzag), so that an edge takes one to three. One by which nothing goes along but
// the order has a kind of its own, and behind it the one that it is of; such a one takes a byte more.

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "libdag/journal/record.hpp"

namespace dag {

class GraphPartWriter {
 public:
  /// A part is full with so many.
  static constexpr std::size_t packed_bytes_max = 16 << 10;
  static constexpr std::size_t names_max = 1024;
  using Emit = std::function<void(TaskId first, recorded::GraphPart part)>;

  GraphPartWriter(TaskId first, Emit emit) : emit_(std::move(emit)), first_(first), part_first_(first) {}

  /// The next one.
  void task(std::string_view name);
  /// The newest one waits for this one, by their places among all. `data`: an argument of it is made from
  /// what this one leaves.
  void waits_for(std::uint32_t place, std::uint8_t kind, bool data);
  /// No more will come.
  void finish();

 private:
  void begin();
  void put(std::uint64_t number);

  const Emit emit_;
  const TaskId first_;
  TaskId part_first_;
  std::uint32_t count_ = 0;  ///< tasks
  std::string name_;         ///< of the newest task
  recorded::GraphPart part_;
  std::unordered_map<std::string, std::uint32_t> name_index_;
};

struct GraphPartVisitor {
  std::function<void(TaskId task, const std::string& name)> task;
  /// Of the task that was named last.
  std::function<void(TaskId predecessor, std::uint8_t kind, bool data)> waits_for;
};
/// Nothing, of other records. False: it is damaged; what could be read of it was visited.
bool read_graph_part(const Record& record, const GraphPartVisitor& visitor);

}  // namespace dag
