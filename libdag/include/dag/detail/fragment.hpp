#pragma once
// The flat form of a graph: of a submitted one, or of what one attempt spawned. Arrays and 32-bit indices, no
// pointers between tasks; the order of adding is kept. Builder (graph.hpp) fills it; libdag/graph checks,
// ranks and draws it; homes make rows of it; the wire carries it.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dag/blob.hpp"
#include "dag/family.hpp"
#include "dag/options.hpp"

namespace dag {
class Context;
struct Program;
}  // namespace dag

namespace dag::detail {

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// The blobs that make one parameter of a kernel: one blob, or several for gathered inputs. A blob that holds
/// nothing is an absent input.
struct ArgumentView {
  const Blob* values = nullptr;
  std::uint32_t count = 0;
};

/// The inputs of a thunk, and the place for the kernel's result.
struct Call {
  const void* function = nullptr;  ///< the kernel, when it was given by pointer
  const ArgumentView* arguments = nullptr;
  std::uint32_t argument_count = 0;
  Context* context = nullptr;
  void* self = nullptr;          ///< the job actor's object, for calls of one
  Blob result = {};              ///< stays empty when the kernel returns nothing
  std::uint32_t becomes = none;  ///< spawned task whose output is the result instead
};

/// Decodes the inputs, calls the kernel, encodes its result. May throw whatever the kernel throws.
using Thunk = void (*)(Call&);
/// Looks at the output of a predecessor and says whether a conditional edge holds.
using Predicate = bool (*)(const void* function, const Blob& output);

/// A template instance and, for a kernel given by pointer, the function. Both lie in the same module: their
/// offsets from its beginning mean the same in every process of one binary.
struct Code {
  const void* thunk = nullptr;
  const void* function = nullptr;
  bool operator==(const Code&) const = default;
};

enum class EdgeKind : std::uint8_t { strong, weak, conditional };

struct Edge {
  std::uint32_t predecessor = none;
  std::uint32_t successor = none;
  EdgeKind kind = EdgeKind::strong;
  bool operator==(const Edge&) const = default;
};

/// The other end of an edge and the edge's kind, packed: a graph has more edges than anything
/// else.
class EdgeEnd {
 public:
  static constexpr std::uint32_t tasks_max = std::uint32_t{1} << 30;

  EdgeEnd() = default;
  EdgeEnd(std::uint32_t task, EdgeKind kind) : bits_(task | static_cast<std::uint32_t>(kind) << 30) {}
  std::uint32_t task() const { return bits_ & (tasks_max - 1); }
  EdgeKind kind() const { return static_cast<EdgeKind>(bits_ >> 30); }
  /// For the wire.
  std::uint32_t bits() const { return bits_; }
  static EdgeEnd of(std::uint32_t bits) {
    EdgeEnd end;
    end.bits_ = bits;
    return end;
  }
  bool operator==(const EdgeEnd&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

/// A conditional edge, by its place among all edges, and the index of its predicate's code.
struct Condition {
  std::uint32_t edge = none;
  std::uint32_t code = none;
  bool operator==(const Condition&) const = default;
};

enum class ArgumentKind : std::uint8_t {
  literal,  ///< `first` is one of the task's own literals, counted from its first
  input,    ///< `first` is one of the task's in-edges, counted from its first
  maybe,    ///< as input, absent when the predecessor did not finish
  gather,   ///< `count` in-edges from `first`
  quorum,   ///< as gather with absent ones; the task is skipped when fewer than `quorum` finished
  point,    ///< where in its family the task is; made from its index
};
/// True: the parameter is made from outputs of predecessors.
constexpr bool is_input(ArgumentKind kind) {
  return kind != ArgumentKind::literal && kind != ArgumentKind::point;
}

struct Argument {
  ArgumentKind kind = ArgumentKind::literal;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t quorum = 0;
  bool operator==(const Argument&) const = default;
};

/// Which part of a job actor's life a task is.
enum class CallKind : std::uint8_t {
  ordinary,  ///< no job actor
  create,    ///< makes the object; the first task of every actor
  call,      ///< one method
  save,      ///< writes the state; its output is the checkpoint
};

/// Names a job actor inside a fragment: one it declares, or one it was handed.
struct ActorRef {
  bool outer = false;  ///< handed in: `index` is the index in the submitted graph
  std::uint32_t index = none;
  bool operator==(const ActorRef&) const = default;
};

/// The properties shared by tasks that differ only in their literals and their predecessors. Most graphs have
/// few kinds of tasks, and many tasks of each.
struct TaskKind {
  std::uint32_t code = none;
  std::uint32_t name = 0;
  std::uint32_t policy = 0;
  std::uint32_t first_argument = 0;
  std::uint16_t argument_count = 0;
  CallKind call = CallKind::ordinary;
  bool returns = false;        ///< has an output
  std::uint32_t actor = none;  ///< actor of the job whose call this is: index in the submitted graph
  bool operator==(const TaskKind&) const = default;
};

/// A job actor: a plain object of the user's, whose calls are tasks in a chain.
struct ActorDraft {
  std::uint32_t name = 0;
  std::uint32_t create_task = none;  ///< index of the task that makes it
  Code save = {};                    ///< writes its state; null when the class has no save
  Code restore = {};                 ///< makes the object again from saved state
  Code destroy = {};
  bool operator==(const ActorDraft&) const = default;
};

/// Consecutive tasks, one for each point of a range, that differ only in their point. In memory they are
/// ordinary tasks; on the wire they are this formula.
struct FamilyDraft {
  /// A predecessor of every task; with `each`, the first of a family whose tasks are predecessors one by one.
  struct Input {
    std::uint32_t task = none;
    bool each = false;
    bool operator==(const Input&) const = default;
  };
  std::uint32_t first_task = 0;
  Range range;
  /// In-edges of a task: first from its family at these offsets, as far as the range has them, then `inputs`.
  std::vector<Offset> before;
  std::vector<Input> inputs;
  std::vector<std::uint32_t> literals;  ///< of each task
  /// Indexed by the number of `before` edges of a task; none where no task has that number.
  std::vector<std::uint32_t> kinds;
  /// A task was changed alone: on the wire each task of the family is written out.
  bool written_out = false;

  std::uint32_t size() const { return range.rows * range.columns; }
  bool has(std::uint32_t task) const { return task >= first_task && task - first_task < size(); }
  Point point_of(std::uint32_t task) const {
    return {(task - first_task) / range.columns, (task - first_task) % range.columns};
  }
  bool operator==(const FamilyDraft&) const = default;
};

/// Tasks that are supervised together: the tasks whose policy names the group, in the order of adding.
struct GroupDraft {
  std::uint32_t name = 0;
  Strategy strategy = Strategy::one_for_one;
  Intensity intensity;
  bool operator==(const GroupDraft&) const = default;
};

/// The form in which homes run a sealed graph (libdag/graph/program.hpp). It is made when the graph is
/// submitted for the first time, by the thread that submits, and stays as long as the graph. A copy of the
/// graph has none, since it may be changed; graphs are equal with and without it.
class KeptProgram {
 public:
  KeptProgram() = default;
  KeptProgram(const KeptProgram&) noexcept {}
  KeptProgram& operator=(const KeptProgram&) noexcept {
    program_.reset();
    return *this;
  }
  bool operator==(const KeptProgram&) const { return true; }
  const std::shared_ptr<const Program>& kept() const { return program_; }
  void keep(std::shared_ptr<const Program> program) const { program_ = std::move(program); }

 private:
  mutable std::shared_ptr<const Program> program_;
};

struct Fragment {
  /// Per task: which of `kinds`.
  std::vector<std::uint32_t> task_kinds;
  std::vector<TaskKind> kinds;
  /// Per task, and one more: where its in-edges begin in `edges`.
  std::vector<std::uint32_t> first_edge;
  /// The predecessors of each task, task by task, in the order of adding.
  std::vector<EdgeEnd> edges;
  std::vector<Condition> conditions;  ///< sorted by edge
  std::vector<Argument> arguments;    ///< of `kinds`
  std::vector<Code> codes;
  std::vector<Blob> literals;
  /// Per task, and one more: where its literals begin in `task_literals`. Empty when no task has any.
  std::vector<std::uint32_t> first_literal;
  /// Indices into `literals`, for the literal arguments of all tasks, task by task.
  std::vector<std::uint32_t> task_literals;
  std::vector<std::string> names;
  std::vector<Policy> policies;
  std::vector<ActorDraft> actors;
  /// (task, actor) pairs: tasks that were handed an actor's handle, and may spawn calls of it.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> mentions;
  /// Groups of actors that are saved, and rolled back, together: indices of actors, per group.
  std::vector<std::vector<std::uint32_t>> save_groups;
  std::vector<FamilyDraft> families;  ///< sorted by first_task
  std::vector<GroupDraft> groups;
  std::uint64_t total = 0;  ///< Graph::total; 0: not stated
  KeptProgram program;

  std::uint32_t size() const { return static_cast<std::uint32_t>(task_kinds.size()); }
  const TaskKind& kind(std::uint32_t task) const { return kinds[task_kinds[task]]; }
  const std::string& name(std::uint32_t task) const { return names[kind(task).name]; }
  const Policy& policy(std::uint32_t task) const { return policies[kind(task).policy]; }
  std::span<const Argument> arguments_of(std::uint32_t task) const {
    const TaskKind& of = kind(task);
    return {arguments.data() + of.first_argument, of.argument_count};
  }
  const Blob& literal(std::uint32_t task, const Argument& argument) const {
    return literals[task_literals[first_literal[task] + argument.first]];
  }
  /// Null when the task is in no family.
  const FamilyDraft* family_of(std::uint32_t task) const {
    const auto after = std::upper_bound(
        families.begin(), families.end(), task,
        [](std::uint32_t wanted, const FamilyDraft& one) { return wanted < one.first_task; });
    return after == families.begin() || !std::prev(after)->has(task) ? nullptr : &*std::prev(after);
  }
  std::span<const EdgeEnd> in_edges(std::uint32_t task) const {
    return {edges.data() + first_edge[task], first_edge[task + 1] - first_edge[task]};
  }
  std::uint32_t edge_count(std::uint32_t task) const { return first_edge[task + 1] - first_edge[task]; }
  /// Calls `visit` with every edge, and with its place among all.
  template <class Visit>
  void each_edge(Visit&& visit) const {
    std::uint32_t place = 0;
    for (std::uint32_t task = 0; task < size(); ++task) {
      for (; place < first_edge[task + 1]; ++place) {
        visit(Edge{edges[place].task(), task, edges[place].kind()}, place);
      }
    }
  }
  /// The predicate of a conditional edge, by the edge's place.
  const Code& predicate(std::uint32_t edge) const {
    const auto at =
        std::lower_bound(conditions.begin(), conditions.end(), edge,
                         [](const Condition& one, std::uint32_t wanted) { return one.edge < wanted; });
    return codes[at->code];
  }
};

}  // namespace dag::detail
