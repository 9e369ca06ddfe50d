// schema/records.capnp as values.

#include "libdag/wire/codec/records.hpp"

#include <algorithm>

#include "libdag/membership/messages.hpp"

namespace dag::wire {
namespace {

/// A text that is cut rather than refused.
std::string shown(const std::string& text) { return text.substr(0, error_text_bytes_max); }
std::size_t shown_words(const std::string& text) {
  return text_words(std::string_view(text).substr(0, error_text_bytes_max));
}

static_assert(static_cast<int>(Outcome::none) == static_cast<int>(schema::Outcome::NONE));
static_assert(static_cast<int>(Outcome::finished) == static_cast<int>(schema::Outcome::FINISHED));
static_assert(static_cast<int>(Outcome::failed) == static_cast<int>(schema::Outcome::FAILED));
static_assert(static_cast<int>(Outcome::skipped) == static_cast<int>(schema::Outcome::SKIPPED));
static_assert(static_cast<int>(Outcome::cancelled) == static_cast<int>(schema::Outcome::CANCELLED));

}  // namespace

Outcome read(schema::Outcome from, const char* field) {
  if (from > schema::Outcome::CANCELLED) throw Invalid{std::string(field) + " is none we know"};
  return static_cast<Outcome>(from);
}

static std::vector<Life> read_lives(Numbers::Reader from, std::size_t lives_max, Reading& reading,
                                    const char* field) {
  reading.count(from.size(), lives_max, field);
  std::vector<Life> lives;
  lives.reserve(from.size());
  for (const std::uint64_t word : from) lives.push_back(life_from(word));
  return lives;
}
std::vector<Life> read_lives(Numbers::Reader from, Reading& reading, const char* field) {
  return read_lives(from, members_max, reading, field);
}
std::vector<Life> read_all_lives(Numbers::Reader from, Reading& reading, const char* field) {
  return read_lives(from, limits::tasks_max, reading, field);
}

std::vector<TaskId> read_tasks(Numbers::Reader from, Reading& reading, const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<TaskId> tasks;
  tasks.reserve(from.size());
  for (const std::uint64_t word : from) tasks.push_back(task_from(word));
  return tasks;
}

void check(const message::TaskBits& some, const char* field) {
  if (some.first.index % 64 != 0 || some.bits == 0) {
    throw Invalid{std::string(field) + " does not begin at a multiple of 64, or names no task"};
  }
}

std::vector<message::TaskBits> read_bits(capnp::List<schema::TaskBits>::Reader from, Reading& reading,
                                         const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<message::TaskBits> all;
  all.reserve(from.size());
  for (const auto some : from) {
    all.push_back({task_from(some.getFirst()), some.getBits()});
    check(all.back(), field);
  }
  return all;
}

std::vector<OutputName> read_names(capnp::List<schema::OutputName>::Reader from, Reading& reading,
                                   const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<OutputName> names;
  names.reserve(from.size());
  for (const auto name : from) names.push_back(read(name));
  return names;
}

std::size_t words(const Error& error) {
  return words_of<schema::Error> + shown_words(error.what) + shown_words(error.hint) +
         shown_words(error.cause);
}

void write(schema::Error::Builder to, const Error& error) {
  to.setCode(static_cast<std::uint16_t>(error.code));
  if (!error.what.empty()) to.setWhat(as_text(shown(error.what)));
  if (!error.hint.empty()) to.setHint(as_text(shown(error.hint)));
  if (!error.cause.empty()) to.setCause(as_text(shown(error.cause)));
}

Error read(schema::Error::Reader from) {
  // A code of a newer build is kept as it is: it prints as "unknown", with its text.
  return {static_cast<ErrorCode>(from.getCode()),
          text_from(from.getWhat(), error_text_bytes_max, "Error.what"),
          text_from(from.getHint(), error_text_bytes_max, "Error.hint"),
          text_from(from.getCause(), error_text_bytes_max, "Error.cause")};
}

void write(schema::OutcomeRecord::Builder to, const OutcomeRecord& record, const CodeMap& codes) {
  to.setTask(word_of(record.task));
  to.setEpoch(word_of(record.attempt.epoch));
  to.setAttempt(record.attempt.number);
  to.setOutcome(static_cast<schema::Outcome>(record.outcome));
  to.setHasOutput(record.has_output);
  to.setDigestFollows(record.digest_follows);
  to.setGrew(record.grew);
  to.setTries(record.tries);
  to.setTolerated(record.tolerated);
  to.setDigest(record.digest);
  to.setSizeBytes(record.size_bytes);
  to.setBecomes(plus_one(record.becomes));
  to.setFirstSpawned(word_of(record.first_spawned));
  write_names(record.inputs, [&to](unsigned count) { return to.initInputs(count); });
  if (record.value) to.setValue(as_data(record.value));
  write_list(
      record.conditions, [&to](unsigned count) { return to.initConditions(count); },
      [](auto& list, unsigned i, bool holds) { list.set(i, holds); });
  if (record.spawned) write(to.initSpawned(), *record.spawned, codes);
  write_list(
      record.literals_above, [&to](unsigned count) { return to.initLiteralsAbove(count); },
      [](auto& list, unsigned i, OutcomeRecord::LiteralAbove one) {
        list.set(i, joined(one.here, one.above));
      });
  if (record.error) write(to.initError(), *record.error);
}

void read(schema::OutcomeRecord::Reader from, Reading& reading, OutcomeRecord& record) {
  record.task = task_from(from.getTask());
  record.attempt = {epoch_from(from.getEpoch()), from.getAttempt()};
  record.outcome = read(from.getOutcome(), "OutcomeRecord.outcome");
  record.has_output = from.getHasOutput();
  record.digest_follows = from.getDigestFollows();
  record.grew = from.getGrew();
  record.tries = from.getTries();
  record.tolerated = from.getTolerated();
  record.digest = from.getDigest();
  record.size_bytes = from.getSizeBytes();
  record.becomes = minus_one(from.getBecomes());
  record.first_spawned = task_from(from.getFirstSpawned());
  // Most records are plain: to look whether a pointer is null is cheaper than to follow it.
  if (from.hasInputs()) record.inputs = read_names(from.getInputs(), reading, "OutcomeRecord.inputs");
  if (from.hasValue()) record.value = read_blob(from.getValue());
  if (from.hasConditions()) {
    const auto conditions = from.getConditions();
    check_count(conditions.size(), conditions_max, "OutcomeRecord.conditions");
    record.conditions = values_from<bool>(conditions);
  }
  if (from.hasSpawned()) {
    record.spawned = read(from.getSpawned(), reading, limits::tasks_max);
    if (record.becomes != detail::none && record.becomes >= record.spawned->size()) {
      throw Invalid{"OutcomeRecord.becomes leads nowhere"};
    }
  } else if (record.becomes != detail::none) {
    throw Invalid{"OutcomeRecord.becomes leads nowhere"};
  }
  if (from.hasLiteralsAbove()) {
    const std::size_t literals = record.spawned ? record.spawned->literals.size() : 0;
    check_count(from.getLiteralsAbove().size(), literals, "OutcomeRecord.literalsAbove");
    for (const std::uint64_t both : from.getLiteralsAbove()) {
      if (high_of(both) >= literals) throw Invalid{"OutcomeRecord.literalsAbove leads nowhere"};
      record.literals_above.push_back({high_of(both), low_of(both)});
    }
  }
  if (from.hasError()) record.error = read(from.getError());
}

std::vector<OutcomeRecord> read_records(capnp::List<schema::OutcomeRecord>::Reader from, Reading& reading,
                                        const char* field) {
  reading.count(from.size(), limits::tasks_max, field);
  std::vector<OutcomeRecord> records;
  records.reserve(from.size());
  for (const auto record : from) read(record, reading, records.emplace_back());
  return records;
}

Blob read_blob(capnp::Data::Reader from) { return Blob(std::as_bytes(std::span(from.begin(), from.size()))); }

}  // namespace dag::wire
