#pragma once
// The common parts of a job's conversations (schema/records.capnp, schema/graph.capnp): weighed, written and
// read. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/job/messages.hpp"
#include "libdag/schema/graph.capnp.h"
#include "libdag/schema/records.capnp.h"
#include "libdag/wire/code_map.hpp"
#include "libdag/wire/codec/words.hpp"

namespace dag::wire {

/// State of a reading besides the reader.
struct Reading {
  const CodeMap& codes;
  /// An honest message has at least a word for each element of a list of structs. Others want a small message
  /// to become a large one.
  std::size_t elements_left;
  /// Families legitimately expand: limit for all families of a message.
  std::size_t expanded_left = std::size_t{limits::tasks_max} + limits::edges_max;

  void count_expanded(std::size_t elements) {
    if (elements > expanded_left) throw Invalid{"the families of one message have too many tasks and edges"};
    expanded_left -= elements;
  }
  void count(std::size_t elements, std::size_t elements_max, const char* field) {
    check_count(elements, std::min(elements_max, elements_left), field);
    elements_left -= elements;
  }
  /// A list of 32-bit numbers, which have half a word each.
  void count_numbers(std::size_t elements, std::size_t elements_max, const char* field) {
    check_count(elements, std::min(elements_max, 2 * elements_left), field);
    elements_left -= elements / 2;
  }
};

// ---- Lists of numbers

using Numbers = capnp::List<std::uint64_t>;

template <class Init>
void write_lives(const std::vector<Life>& lives, Init init) {
  write_list(lives, init, [](auto& list, unsigned i, Life life) { list.set(i, word_of(life)); });
}
template <class Init>
void write_tasks(const std::vector<TaskId>& tasks, Init init) {
  write_list(tasks, init, [](auto& list, unsigned i, TaskId task) { list.set(i, word_of(task)); });
}
std::vector<Life> read_lives(Numbers::Reader from, Reading& reading, const char* field);
/// Limit: as many as a job may ever have had, or one for each of its tasks.
std::vector<Life> read_all_lives(Numbers::Reader from, Reading& reading, const char* field);
std::vector<TaskId> read_tasks(Numbers::Reader from, Reading& reading, const char* field);

/// Throws Invalid when they do not begin at a multiple of 64, or are empty.
void check(const message::TaskBits& some, const char* field);
std::vector<message::TaskBits> read_bits(capnp::List<schema::TaskBits>::Reader from, Reading& reading,
                                         const char* field);
template <class Init>
void write_bits(const std::vector<message::TaskBits>& all, Init init) {
  write_list(all, init, [](auto& list, unsigned i, const message::TaskBits& some) {
    list[i].setFirst(word_of(some.first));
    list[i].setBits(some.bits);
  });
}

// ---- Outputs

inline void write(schema::OutputName::Builder to, const OutputName& name) {
  to.setTask(word_of(name.task));
  to.setEpoch(word_of(name.attempt.epoch));
  to.setAttempt(name.attempt.number);
}
inline OutputName read(schema::OutputName::Reader from) {
  return {task_from(from.getTask()), AttemptId{epoch_from(from.getEpoch()), from.getAttempt()}};
}
template <class Init>
void write_names(const std::vector<OutputName>& names, Init init) {
  write_list(names, init, [](auto& list, unsigned i, const OutputName& name) { write(list[i], name); });
}
std::vector<OutputName> read_names(capnp::List<schema::OutputName>::Reader from, Reading& reading,
                                   const char* field);

// ---- Errors, records

/// The struct and all below it.
std::size_t words(const Error& error);
void write(schema::Error::Builder to, const Error& error);
Error read(schema::Error::Reader from);

Outcome read(schema::Outcome from, const char* field);

void write(schema::OutcomeRecord::Builder to, const OutcomeRecord& record, const CodeMap& codes);
/// `record` must be new.
void read(schema::OutcomeRecord::Reader from, Reading& reading, OutcomeRecord& record);
inline OutcomeRecord read(schema::OutcomeRecord::Reader from, Reading& reading) {
  OutcomeRecord record;
  read(from, reading, record);
  return record;
}
template <class Init>
void write_records(const std::vector<OutcomeRecord>& records, Init init, const CodeMap& codes) {
  write_list(records, init, [&codes](auto& list, unsigned i, const OutcomeRecord& record) {
    write(list[i], record, codes);
  });
}
std::vector<OutcomeRecord> read_records(capnp::List<schema::OutcomeRecord>::Reader from, Reading& reading,
                                        const char* field);

/// A blob of a record or attempt: absent differs from empty, so the caller asks the reader's `has`.
Blob read_blob(capnp::Data::Reader from);

// ---- Code and graphs

void write(schema::Code::Builder to, const detail::Code& code, const CodeMap& codes);
detail::Code read(schema::Code::Reader from, const CodeMap& codes);

std::size_t words(const detail::ActorDraft& actor);
void write(schema::Actor::Builder to, const detail::ActorDraft& actor, const CodeMap& codes);
detail::ActorDraft read(schema::Actor::Reader from, const CodeMap& codes);

detail::CallKind read_call(schema::Call from);

std::size_t words(const detail::Fragment& graph);
void write(schema::Graph::Builder to, const detail::Fragment& graph, const CodeMap& codes);
/// After this every index can be followed, except those of job actors that were handed in (`outer_actors`).
std::shared_ptr<const detail::Fragment> read(schema::Graph::Reader from, Reading& reading,
                                             std::uint32_t outer_actors);

}  // namespace dag::wire
