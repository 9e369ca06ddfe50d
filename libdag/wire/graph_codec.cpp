// schema/graph.capnp as values.

#include <algorithm>

#include "libdag/graph/check.hpp"
#include "libdag/graph/family.hpp"
#include "libdag/wire/codec/records.hpp"

namespace dag::wire {
namespace {

using detail::Fragment;

// ---- Code

CodePlace place_of(const void* code, const CodeMap& codes) {
  if (const auto place = codes.place_of(code)) return *place;
  throw Invalid{
      "a kernel's code lies outside of the program, so another process cannot find it; "
      "give the task a function of your own that calls it"};
}

const void* code_at(CodePlace place, const CodeMap& codes) {
  if (const auto code = codes.code_at(place)) return *code;
  throw Invalid{"code lies where this process has none"};
}

// ---- The small parts

void write_kind(schema::TaskKind::Builder to, const detail::TaskKind& kind) {
  to.setCode(kind.code);
  to.setName(kind.name);
  to.setPolicy(kind.policy);
  to.setFirstArgument(kind.first_argument);
  to.setArgumentCount(kind.argument_count);
  to.setCall(static_cast<schema::Call>(kind.call));
  to.setReturns(kind.returns);
  to.setActor(plus_one(kind.actor));
}

detail::TaskKind read_kind(schema::TaskKind::Reader from) {
  detail::TaskKind kind;
  kind.code = from.getCode();
  kind.name = from.getName();
  kind.policy = from.getPolicy();
  kind.first_argument = from.getFirstArgument();
  kind.argument_count = from.getArgumentCount();
  kind.call = read_call(from.getCall());
  kind.returns = from.getReturns();
  kind.actor = minus_one(from.getActor());
  return kind;
}

void write_argument(schema::Argument::Builder to, const detail::Argument& argument) {
  to.setKind(static_cast<schema::Argument::Kind>(argument.kind));
  to.setFirst(argument.first);
  to.setCount(argument.count);
  to.setQuorum(argument.quorum);
}

detail::Argument read_argument(schema::Argument::Reader from) {
  if (from.getKind() > schema::Argument::Kind::POINT) throw Invalid{"Argument.kind is none we know"};
  return {static_cast<detail::ArgumentKind>(from.getKind()), from.getFirst(), from.getCount(),
          from.getQuorum()};
}

void write_policy(schema::Policy::Builder to, const Policy& policy) {
  to.setCpus(policy.needs.cpus);
  to.setGpus(policy.needs.gpus);
  to.setMemoryBytes(policy.needs.memory);
  to.setAttempts(policy.retry.attempts);
  to.setBackoff(policy.retry.backoff.count());
  to.setPriority(static_cast<std::uint8_t>(policy.priority));
  to.setEffects(static_cast<std::uint8_t>(policy.effects));
  to.setPublishes(policy.publishes);
  to.setJoin(static_cast<std::uint8_t>(policy.join));
  to.setHasTimeout(policy.timeout.has_value());
  to.setHasDeadline(policy.deadline.has_value());
  to.setHasTakes(policy.takes.has_value());
  to.setHasCheckpoint(policy.checkpoint.has_value());
  to.setVarying(policy.varying);
  to.setKeep(policy.keep);
  to.setTimeout(policy.timeout.value_or(Duration{}).count());
  to.setDeadline(policy.deadline.value_or(Duration{}).count());
  to.setTakes(policy.takes.value_or(Duration{}).count());
  to.setCheckpoint(policy.checkpoint.value_or(Duration{}).count());
  to.setGroup(plus_one(policy.group.value_or(detail::none)));
}

Policy read_policy(schema::Policy::Reader from) {
  Policy policy;
  policy.needs = {from.getCpus(), from.getGpus(), from.getMemoryBytes()};
  policy.retry = {from.getAttempts(), Duration(from.getBackoff())};
  policy.priority = static_cast<Priority>(from.getPriority());  // check_indices looks at these three.
  policy.effects = static_cast<Effects>(from.getEffects());
  policy.publishes = from.getPublishes();
  policy.join = static_cast<Join>(from.getJoin());
  if (from.getHasTimeout()) policy.timeout = Duration(from.getTimeout());
  if (from.getHasDeadline()) policy.deadline = Duration(from.getDeadline());
  if (from.getHasTakes()) policy.takes = Duration(from.getTakes());
  policy.varying = from.getVarying();
  policy.keep = from.getKeep();
  if (from.getHasCheckpoint()) policy.checkpoint = Duration(from.getCheckpoint());
  if (from.getGroup() != 0) policy.group = minus_one(from.getGroup());
  return policy;
}

void write_group(schema::Group::Builder to, const detail::GroupDraft& group) {
  to.setName(group.name);
  to.setStrategy(static_cast<std::uint8_t>(group.strategy));
  to.setRestarts(group.intensity.restarts);
  to.setPeriod(group.intensity.period.count());
}

detail::GroupDraft read_group(schema::Group::Reader from) {
  // check_indices looks at the strategy.
  return {from.getName(),
          static_cast<Strategy>(from.getStrategy()),
          {from.getRestarts(), Duration(from.getPeriod())}};
}

using Numbers32 = capnp::List<std::uint32_t>;

std::vector<std::uint32_t> read_numbers(Numbers32::Reader from, Reading& reading, std::size_t count_max,
                                        const char* field) {
  reading.count_numbers(from.size(), count_max, field);
  return values_from<std::uint32_t>(from);
}

std::vector<std::uint32_t> read_firsts(Numbers32::Reader from, Reading& reading, const char* field) {
  reading.count_numbers(from.size(), limits::tasks_max, field);
  std::vector<std::uint32_t> firsts{0};
  firsts.reserve(from.size() + 1);
  std::uint64_t next = 0;
  for (const std::uint32_t count : from) {
    next += count;
    if (next > limits::edges_max) throw Invalid{std::string(field) + " are more than a graph may have"};
    firsts.push_back(static_cast<std::uint32_t>(next));
  }
  return firsts;
}

// ---- Tasks, and what there is of each

/// How much of a graph is written task by task; the rest is families.
struct Sizes {
  std::size_t tasks = 0, edges = 0, literals = 0;
};
Sizes written(const Fragment& graph) {
  Sizes sizes;
  each_written(graph, [&](std::uint32_t first, std::uint32_t end) {
    sizes.tasks += end - first;
    sizes.edges += graph.first_edge[end] - graph.first_edge[first];
    if (!graph.first_literal.empty()) sizes.literals += graph.first_literal[end] - graph.first_literal[first];
  });
  return sizes;
}

void write_tasks(schema::Graph::Builder to, const Fragment& graph) {
  const Sizes sizes = written(graph);
  const auto length = [](std::size_t size) { return static_cast<unsigned>(size); };
  auto kinds = to.initTaskKinds(length(sizes.tasks));
  auto edge_counts = to.initEdgeCounts(length(sizes.tasks));
  auto edges = to.initEdges(length(sizes.edges));
  const bool literals = sizes.literals > 0;
  auto literal_counts = to.initLiteralCounts(literals ? length(sizes.tasks) : 0);
  auto task_literals = to.initTaskLiterals(length(sizes.literals));
  unsigned task_at = 0, edge_at = 0, literal_at = 0;
  each_written(graph, [&](std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t task = first; task < end; ++task, ++task_at) {
      kinds.set(task_at, graph.task_kinds[task]);
      edge_counts.set(task_at, graph.edge_count(task));
      if (literals) literal_counts.set(task_at, graph.first_literal[task + 1] - graph.first_literal[task]);
    }
    for (std::uint32_t edge = graph.first_edge[first]; edge < graph.first_edge[end]; ++edge) {
      edges.set(edge_at++, graph.edges[edge].bits());
    }
    if (!literals) return;
    for (std::uint32_t i = graph.first_literal[first]; i < graph.first_literal[end]; ++i) {
      task_literals.set(literal_at++, graph.task_literals[i]);
    }
  });
}

/// As in a Fragment, of the tasks that were written one by one.
struct WrittenTasks {
  std::vector<std::uint32_t> kinds;
  std::vector<std::uint32_t> first_edge;
  std::vector<detail::EdgeEnd> edges;
  std::vector<std::uint32_t> first_literal;  ///< empty when there are none
  std::vector<std::uint32_t> literals;
};

WrittenTasks read_tasks(schema::Graph::Reader from, Reading& reading) {
  WrittenTasks tasks;
  tasks.kinds = read_numbers(from.getTaskKinds(), reading, limits::tasks_max, "Graph.taskKinds");
  tasks.first_edge = read_firsts(from.getEdgeCounts(), reading, "Graph.edgeCounts");
  reading.count_numbers(from.getEdges().size(), limits::edges_max, "Graph.edges");
  tasks.edges.reserve(from.getEdges().size());
  for (const std::uint32_t bits : from.getEdges()) tasks.edges.push_back(detail::EdgeEnd::of(bits));
  if (from.getLiteralCounts().size() > 0) {
    tasks.first_literal = read_firsts(from.getLiteralCounts(), reading, "Graph.literalCounts");
  }
  tasks.literals = read_numbers(from.getTaskLiterals(), reading, limits::edges_max, "Graph.taskLiterals");
  const bool literals = !tasks.first_literal.empty() || !tasks.literals.empty();
  if (tasks.first_edge.size() != tasks.kinds.size() + 1 || tasks.first_edge.back() != tasks.edges.size() ||
      (literals && (tasks.first_literal.size() != tasks.kinds.size() + 1 ||
                    tasks.first_literal.back() != tasks.literals.size()))) {
    throw Invalid{"the lists of tasks do not fit each other"};
  }
  return tasks;
}

/// The families from `first` up to `end`, behind the tasks that the graph has. It has no ends of the last
/// one's edges and literals yet.
void append(Fragment& graph, const WrittenTasks& tasks, std::size_t first, std::size_t end) {
  const bool literals = !tasks.first_literal.empty() || !graph.first_literal.empty();
  if (literals && graph.first_literal.empty()) graph.first_literal.assign(graph.size(), 0);
  for (std::size_t task = first; task < end; ++task) {
    graph.task_kinds.push_back(tasks.kinds[task]);
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
    for (std::uint32_t i = tasks.first_edge[task]; i < tasks.first_edge[task + 1]; ++i) {
      graph.edges.push_back(tasks.edges[i]);
    }
    if (!literals) continue;
    graph.first_literal.push_back(static_cast<std::uint32_t>(graph.task_literals.size()));
    if (tasks.first_literal.empty()) continue;
    for (std::uint32_t i = tasks.first_literal[task]; i < tasks.first_literal[task + 1]; ++i) {
      graph.task_literals.push_back(tasks.literals[i]);
    }
  }
}

/// Puts the written tasks and the families, of which none has tasks yet, one behind the other.
void put_together(Fragment& graph, WrittenTasks&& tasks, Reading& reading) {
  const bool expands = std::any_of(graph.families.begin(), graph.families.end(),
                                   [](const auto& family) { return !family.written_out; });
  if (!expands) {
    graph.task_kinds = std::move(tasks.kinds);
    graph.first_edge = std::move(tasks.first_edge);
    graph.edges = std::move(tasks.edges);
    graph.first_literal = std::move(tasks.first_literal);
    graph.task_literals = std::move(tasks.literals);
    return;
  }
  std::size_t next = 0;
  for (const detail::FamilyDraft& family : graph.families) {
    if (family.written_out) continue;
    const std::size_t before = std::size_t{family.first_task} - graph.size();
    if (family.first_task < graph.size() || before > tasks.kinds.size() - next) {
      throw Invalid{"a family does not begin where it says"};
    }
    append(graph, tasks, next, next + before);
    next += before;
    if (const char* wrong = wrong_with_formula(family, graph.size(), graph.edges.size())) {
      throw Invalid{std::string("a family is damaged: ") + wrong};
    }
    const std::size_t each = 1 + family.before.size() + family.inputs.size() + family.literals.size();
    reading.count_expanded(family.size() * each);
    expand(graph, family, [&](std::uint32_t count) {
      const std::uint32_t kind = count < family.kinds.size() ? family.kinds[count] : detail::none;
      if (kind == detail::none) throw Invalid{"a family's tasks are of no kind"};
      return kind;
    });
  }
  append(graph, tasks, next, tasks.kinds.size());
  graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  if (!graph.first_literal.empty()) {
    graph.first_literal.push_back(static_cast<std::uint32_t>(graph.task_literals.size()));
  }
}

// ---- Families

std::size_t family_words(const detail::FamilyDraft& family) {
  return words_of<schema::Family> + family.before.size() + bits_words(family.inputs.size(), 32) +
         bits_words(family.inputs.size(), 1) + bits_words(family.literals.size(), 32) +
         bits_words(family.kinds.size(), 32);
}

void write_family(schema::Family::Builder to, const detail::FamilyDraft& family) {
  to.setFirstTask(family.first_task);
  to.setRows(family.range.rows);
  to.setColumns(family.range.columns);
  to.setWrittenOut(family.written_out);
  write_list(
      family.before, [&](unsigned count) { return to.initBefore(count); },
      [](auto& list, unsigned i, Offset offset) {
        list.set(i,
                 joined(static_cast<std::uint32_t>(offset.rows), static_cast<std::uint32_t>(offset.columns)));
      });
  write_list(
      family.inputs, [&](unsigned count) { return to.initInputs(count); },
      [](auto& list, unsigned i, detail::FamilyDraft::Input input) { list.set(i, input.task); });
  write_list(
      family.inputs, [&](unsigned count) { return to.initEachInputs(count); },
      [](auto& list, unsigned i, detail::FamilyDraft::Input input) { list.set(i, input.each); });
  write_list(
      family.literals, [&](unsigned count) { return to.initLiterals(count); },
      [](auto& list, unsigned i, std::uint32_t literal) { list.set(i, literal); });
  write_list(
      family.kinds, [&](unsigned count) { return to.initKinds(count); },
      [](auto& list, unsigned i, std::uint32_t kind) { list.set(i, plus_one(kind)); });
}

detail::FamilyDraft read_family(schema::Family::Reader from) {
  detail::FamilyDraft family;
  family.first_task = from.getFirstTask();
  family.range = {from.getRows(), from.getColumns()};
  family.written_out = from.getWrittenOut();
  check_count(from.getBefore().size(), family_offsets_max, "Family.before");
  for (const std::uint64_t both : from.getBefore()) {
    family.before.push_back(
        {static_cast<std::int32_t>(high_of(both)), static_cast<std::int32_t>(low_of(both))});
  }
  const auto inputs = from.getInputs();
  const auto each_inputs = from.getEachInputs();
  check_count(inputs.size(), family_parameters_max, "Family.inputs");
  if (each_inputs.size() != inputs.size()) throw Invalid{"Family.eachInputs does not fit Family.inputs"};
  for (unsigned i = 0; i < inputs.size(); ++i) family.inputs.push_back({inputs[i], each_inputs[i]});
  check_count(from.getLiterals().size(), family_parameters_max, "Family.literals");
  family.literals = values_from<std::uint32_t>(from.getLiterals());
  check_count(from.getKinds().size(), family_offsets_max + 1, "Family.kinds");
  for (const std::uint32_t kind : from.getKinds()) family.kinds.push_back(minus_one(kind));
  return family;
}

// ---- Lists of structs

/// A list of structs, each made by `read_one`.
template <class Value, class List, class ReadOne>
std::vector<Value> read_list(List from, Reading& reading, std::size_t count_max, const char* field,
                             ReadOne read_one) {
  reading.count(from.size(), count_max, field);
  std::vector<Value> values;
  values.reserve(from.size());
  for (const auto one : from) values.push_back(read_one(one));
  return values;
}

static_assert(static_cast<int>(detail::CallKind::save) == static_cast<int>(schema::Call::SAVE));
static_assert(static_cast<int>(detail::EdgeKind::conditional) ==
              static_cast<int>(schema::EdgeKind::CONDITIONAL));
static_assert(static_cast<int>(detail::ArgumentKind::point) ==
              static_cast<int>(schema::Argument::Kind::POINT));

}  // namespace

void write(schema::Code::Builder to, const detail::Code& code, const CodeMap& codes) {
  const CodePlace thunk = place_of(code.thunk, codes), function = place_of(code.function, codes);
  to.setThunkModule(thunk.module);
  to.setThunk(thunk.offset);
  to.setFunctionModule(function.module);
  to.setFunction(function.offset);
}

detail::Code read(schema::Code::Reader from, const CodeMap& codes) {
  return {code_at({from.getThunkModule(), from.getThunk()}, codes),
          code_at({from.getFunctionModule(), from.getFunction()}, codes)};
}

std::size_t words(const detail::ActorDraft&) { return words_of<schema::Actor> + 3 * words_of<schema::Code>; }

void write(schema::Actor::Builder to, const detail::ActorDraft& actor, const CodeMap& codes) {
  to.setName(actor.name);
  to.setCreateTask(plus_one(actor.create_task));
  write(to.initSave(), actor.save, codes);
  write(to.initRestore(), actor.restore, codes);
  write(to.initDestroy(), actor.destroy, codes);
}

detail::ActorDraft read(schema::Actor::Reader from, const CodeMap& codes) {
  return {from.getName(), minus_one(from.getCreateTask()), read(from.getSave(), codes),
          read(from.getRestore(), codes), read(from.getDestroy(), codes)};
}

detail::CallKind read_call(schema::Call from) {
  if (from > schema::Call::SAVE) throw Invalid{"a call is of no kind we know"};
  return static_cast<detail::CallKind>(from);
}

std::size_t words(const Fragment& graph) {
  const Sizes sizes = written(graph);
  std::size_t words =
      words_of<schema::Graph> + list_words<schema::TaskKind>(graph.kinds.size()) +
      2 * bits_words(sizes.tasks, 32) + bits_words(sizes.edges, 32) + graph.conditions.size() +
      (sizes.literals == 0 ? 0 : bits_words(sizes.tasks, 32)) + bits_words(sizes.literals, 32) +
      list_words<schema::Argument>(graph.arguments.size()) + list_words<schema::Code>(graph.codes.size()) +
      graph.literals.size() + graph.names.size() + list_words<schema::Policy>(graph.policies.size()) +
      list_words<schema::Actor>(graph.actors.size()) + graph.mentions.size() + graph.save_groups.size() +
      (graph.families.empty() ? 0 : 1) + list_words<schema::Group>(graph.groups.size());
  for (const auto& family : graph.families) words += family_words(family);
  for (const Blob& literal : graph.literals) words += data_words(literal);
  for (const std::string& name : graph.names) words += written_text_words(name);
  for (const auto& actor : graph.actors) words += wire::words(actor) - words_of<schema::Actor>;
  for (const auto& group : graph.save_groups) words += bits_words(group.size(), 32);
  return words;
}

void write(schema::Graph::Builder to, const Fragment& graph, const CodeMap& codes) {
  write_list(
      graph.kinds, [&](unsigned count) { return to.initKinds(count); },
      [](auto& list, unsigned i, const auto& kind) { write_kind(list[i], kind); });
  write_tasks(to, graph);
  write_list(
      graph.families, [&](unsigned count) { return to.initFamilies(count); },
      [](auto& list, unsigned i, const auto& family) { write_family(list[i], family); });
  write_list(
      graph.conditions, [&](unsigned count) { return to.initConditions(count); },
      [](auto& list, unsigned i, const detail::Condition& condition) {
        list.set(i, joined(condition.edge, condition.code));
      });
  write_list(
      graph.arguments, [&](unsigned count) { return to.initArguments(count); },
      [](auto& list, unsigned i, const auto& argument) { write_argument(list[i], argument); });
  write_list(
      graph.codes, [&](unsigned count) { return to.initCodes(count); },
      [&](auto& list, unsigned i, const auto& code) { write(list[i], code, codes); });
  write_list(
      graph.literals, [&](unsigned count) { return to.initLiterals(count); },
      [](auto& list, unsigned i, const Blob& literal) { list.set(i, as_data(literal)); });
  write_list(
      graph.names, [&](unsigned count) { return to.initNames(count); },
      [](auto& list, unsigned i, const std::string& name) { list.set(i, as_text(name)); });
  write_list(
      graph.policies, [&](unsigned count) { return to.initPolicies(count); },
      [](auto& list, unsigned i, const Policy& policy) { write_policy(list[i], policy); });
  write_list(
      graph.actors, [&](unsigned count) { return to.initActors(count); },
      [&](auto& list, unsigned i, const auto& actor) { write(list[i], actor, codes); });
  write_list(
      graph.mentions, [&](unsigned count) { return to.initMentions(count); },
      [](auto& list, unsigned i, const auto& mention) {
        list.set(i, joined(mention.first, mention.second));
      });
  write_list(
      graph.save_groups, [&](unsigned count) { return to.initSaveGroups(count); },
      [](auto& list, unsigned i, const std::vector<std::uint32_t>& group) {
        auto members = list.init(i, static_cast<unsigned>(group.size()));
        for (unsigned k = 0; k < members.size(); ++k) members.set(k, group[k]);
      });
  write_list(
      graph.groups, [&](unsigned count) { return to.initGroups(count); },
      [](auto& list, unsigned i, const auto& group) { write_group(list[i], group); });
  to.setTotal(graph.total);
}

std::shared_ptr<const Fragment> read(schema::Graph::Reader from, Reading& reading,
                                     std::uint32_t outer_actors) {
  auto graph = std::make_shared<Fragment>();
  graph->kinds =
      read_list<detail::TaskKind>(from.getKinds(), reading, limits::tasks_max, "Graph.kinds", read_kind);
  graph->families = read_list<detail::FamilyDraft>(from.getFamilies(), reading, limits::tasks_max,
                                                   "Graph.families", read_family);
  put_together(*graph, read_tasks(from, reading), reading);
  reading.count(from.getConditions().size(), limits::edges_max, "Graph.conditions");
  for (const std::uint64_t both : from.getConditions()) {
    graph->conditions.push_back({high_of(both), low_of(both)});
  }
  graph->arguments = read_list<detail::Argument>(from.getArguments(), reading, limits::edges_max,
                                                 "Graph.arguments", read_argument);
  graph->codes = read_list<detail::Code>(from.getCodes(), reading, limits::tasks_max, "Graph.codes",
                                         [&](auto code) { return read(code, reading.codes); });
  graph->literals =
      read_list<Blob>(from.getLiterals(), reading, limits::edges_max, "Graph.literals", read_blob);
  graph->names =
      read_list<std::string>(from.getNames(), reading, limits::tasks_max, "Graph.names",
                             [](auto name) { return text_from(name, label_bytes_max, "Graph.names"); });
  graph->policies =
      read_list<Policy>(from.getPolicies(), reading, limits::tasks_max, "Graph.policies", read_policy);
  graph->actors = read_list<detail::ActorDraft>(from.getActors(), reading, limits::tasks_max, "Graph.actors",
                                                [&](auto actor) { return read(actor, reading.codes); });
  const auto mentions = from.getMentions();
  reading.count(mentions.size(), limits::edges_max, "Graph.mentions");
  for (const std::uint64_t mention : mentions)
    graph->mentions.emplace_back(high_of(mention), low_of(mention));
  const auto groups = from.getSaveGroups();
  reading.count(groups.size(), limits::tasks_max, "Graph.saveGroups");
  for (const auto group : groups) {
    check_count(group.size(), limits::tasks_max, "Graph.saveGroups");
    graph->save_groups.push_back(values_from<std::uint32_t>(group));
  }
  graph->groups =
      read_list<detail::GroupDraft>(from.getGroups(), reading, limits::tasks_max, "Graph.groups", read_group);
  graph->total = from.getTotal();
  if (const Status sound = check_indices(*graph, outer_actors); !sound) throw Invalid{sound.error().what};
  return graph;
}

}  // namespace dag::wire
