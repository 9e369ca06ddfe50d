// schema/graph.capnp as values.

#include <algorithm>

#include "libdag/graph/check.hpp"
#include "libdag/wire/codec/records.hpp"

namespace dag::wire {
namespace {

using detail::Fragment;

// ---- Code ---------------------------------------------------------------------------------------

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

// ---- The small parts ----------------------------------------------------------------------------

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
  if (from.getKind() > schema::Argument::Kind::QUORUM) throw Invalid{"Argument.kind is none we know"};
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
  to.setJoin(static_cast<std::uint8_t>(policy.join));
  to.setHasTimeout(policy.timeout.has_value());
  to.setHasDeadline(policy.deadline.has_value());
  to.setHasTakes(policy.takes.has_value());
  to.setTimeout(policy.timeout.value_or(Duration{}).count());
  to.setDeadline(policy.deadline.value_or(Duration{}).count());
  to.setTakes(policy.takes.value_or(Duration{}).count());
}

Policy read_policy(schema::Policy::Reader from) {
  Policy policy;
  policy.needs = {from.getCpus(), from.getGpus(), from.getMemoryBytes()};
  policy.retry = {from.getAttempts(), Duration(from.getBackoff())};
  policy.priority = static_cast<Priority>(from.getPriority());  // check_indices looks at these three.
  policy.effects = static_cast<Effects>(from.getEffects());
  policy.join = static_cast<Join>(from.getJoin());
  if (from.getHasTimeout()) policy.timeout = Duration(from.getTimeout());
  if (from.getHasDeadline()) policy.deadline = Duration(from.getDeadline());
  if (from.getHasTakes()) policy.takes = Duration(from.getTakes());
  return policy;
}

using Numbers32 = capnp::List<std::uint32_t>;

std::vector<std::uint32_t> read_numbers(Numbers32::Reader from, Reading& reading, std::size_t count_max,
                                        const char* field) {
  reading.count_numbers(from.size(), count_max, field);
  return values_from<std::uint32_t>(from);
}

/// `firsts` says where each one's part begins, and where the last one's ends.
template <class Init>
void write_counts(const std::vector<std::uint32_t>& firsts, Init&& init) {
  if (firsts.size() < 2) return;
  auto list = init(static_cast<unsigned>(firsts.size() - 1));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, firsts[i + 1] - firsts[i]);
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
static_assert(static_cast<int>(detail::ArgumentKind::quorum) ==
              static_cast<int>(schema::Argument::Kind::QUORUM));

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
  std::size_t words =
      words_of<schema::Graph> + list_words<schema::TaskKind>(graph.kinds.size()) +
      bits_words(graph.task_kinds.size(), 32) + bits_words(graph.size(), 32) +
      bits_words(graph.edges.size(), 32) + graph.conditions.size() +
      (graph.first_literal.empty() ? 0 : bits_words(graph.size(), 32)) +
      list_words<schema::Argument>(graph.arguments.size()) + list_words<schema::Code>(graph.codes.size()) +
      graph.literals.size() + graph.names.size() + list_words<schema::Policy>(graph.policies.size()) +
      list_words<schema::Actor>(graph.actors.size()) + bits_words(graph.task_literals.size(), 32) +
      graph.mentions.size() + graph.save_groups.size();
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
  const auto number = [](auto& list, unsigned i, std::uint32_t value) { list.set(i, value); };
  write_list(
      graph.task_kinds, [&](unsigned count) { return to.initTaskKinds(count); }, number);
  write_counts(graph.first_edge, [&](unsigned count) { return to.initEdgeCounts(count); });
  write_list(
      graph.edges, [&](unsigned count) { return to.initEdges(count); },
      [](auto& list, unsigned i, detail::EdgeEnd end) { list.set(i, end.bits()); });
  write_list(
      graph.conditions, [&](unsigned count) { return to.initConditions(count); },
      [](auto& list, unsigned i, const detail::Condition& condition) {
        list.set(i, joined(condition.edge, condition.code));
      });
  write_counts(graph.first_literal, [&](unsigned count) { return to.initLiteralCounts(count); });
  write_list(
      graph.task_literals, [&](unsigned count) { return to.initTaskLiterals(count); }, number);
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
}

std::shared_ptr<const Fragment> read(schema::Graph::Reader from, Reading& reading,
                                     std::uint32_t outer_actors) {
  auto graph = std::make_shared<Fragment>();
  graph->kinds =
      read_list<detail::TaskKind>(from.getKinds(), reading, limits::tasks_max, "Graph.kinds", read_kind);
  graph->task_kinds = read_numbers(from.getTaskKinds(), reading, limits::tasks_max, "Graph.taskKinds");
  graph->first_edge = read_firsts(from.getEdgeCounts(), reading, "Graph.edgeCounts");
  reading.count_numbers(from.getEdges().size(), limits::edges_max, "Graph.edges");
  graph->edges.reserve(from.getEdges().size());
  for (const std::uint32_t bits : from.getEdges()) graph->edges.push_back(detail::EdgeEnd::of(bits));
  reading.count(from.getConditions().size(), limits::edges_max, "Graph.conditions");
  for (const std::uint64_t both : from.getConditions()) {
    graph->conditions.push_back({high_of(both), low_of(both)});
  }
  if (from.getLiteralCounts().size() > 0) {
    graph->first_literal = read_firsts(from.getLiteralCounts(), reading, "Graph.literalCounts");
  }
  graph->task_literals =
      read_numbers(from.getTaskLiterals(), reading, limits::edges_max, "Graph.taskLiterals");
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
  if (const Status sound = check_indices(*graph, outer_actors); !sound) throw Invalid{sound.error().what};
  return graph;
}

}  // namespace dag::wire
