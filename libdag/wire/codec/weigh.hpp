#pragma once
// Weighs a message by its fields, so that a new field is weighed without a line of its own. The weight is
// exact: the words that the codec will write. The rules:
//
//   a number, an id, a truth value     nothing: it lies in the struct that has it
//   a text, bytes, a list              its words; nothing when empty
//   a value with a struct in the       that struct, and all below it
//   schema (`schema_of`)
//   another aggregate                  its fields: they are fields of the schema's struct itself
//
// A type that is written otherwise has its own `Below`. Includes generated code, so it is for the .cpp files
// of libdag/wire alone.

#include <array>
#include <concepts>
#include <memory>
#include <optional>

#include "libdag/base/fields.hpp"
#include "libdag/wire/codec/conversations.hpp"

namespace dag::wire {

// The struct of the schema that a value is written as. Declared only.

schema::Unimplemented schema_of(const Unimplemented&);
schema::Piece schema_of(const Piece&);
schema::JobNote schema_of(const JobNote&);

schema::Hello schema_of(const link::Hello&);
schema::Welcome schema_of(const link::Welcome&);
schema::HelloRefused schema_of(const link::HelloRefused&);
schema::Claim schema_of(const Claim&);
schema::DeviceLoad schema_of(const DeviceLoad&);
schema::RingOffer schema_of(const ring::Offer&);
schema::HandOver schema_of(const ring::HandOver&);
schema::StreamOver schema_of(const ring::StreamOver&);
schema::Seat schema_of(const consensus::Seat&);
schema::Configuration schema_of(const consensus::Configuration&);
schema::Append::Entry schema_of(const consensus::Entry&);
schema::AskVote schema_of(const consensus::AskVote&);
schema::VoteAnswer schema_of(const consensus::VoteAnswer&);
schema::Append schema_of(const consensus::Append&);
schema::AppendAnswer schema_of(const consensus::AppendAnswer&);
schema::SnapshotPiece schema_of(const consensus::SnapshotPiece&);
schema::SnapshotAnswer schema_of(const consensus::SnapshotAnswer&);

schema::OutputName schema_of(const OutputName&);
schema::OutcomeRecord schema_of(const OutcomeRecord&);
schema::Error schema_of(const Error&);
schema::Code schema_of(const detail::Code&);
schema::Actor schema_of(const detail::ActorDraft&);
schema::TaskBits schema_of(const message::TaskBits&);
schema::JobCreate schema_of(const message::JobCreate&);
schema::JobState schema_of(const message::JobState&);
schema::Crashed schema_of(const message::Crashed&);
schema::Tried schema_of(const message::Tried&);
schema::FirstTry schema_of(const message::FirstTry&);
schema::Assign schema_of(const message::Assign&);
schema::Settled schema_of(const message::Settled&);
schema::Outcomes schema_of(const message::Outcomes&);
schema::OutcomeStep schema_of(const message::OutcomeStep&);
schema::FirstNeeds schema_of(const message::NeededFirst&);
schema::Lend schema_of(const message::Lend&);
schema::Wanted schema_of(const message::WantedInput&);
schema::Return schema_of(const message::Return&);
schema::Report schema_of(const message::Report&);
schema::Report::Had schema_of(const message::Report::Had&);
schema::Report::Running schema_of(const message::Report::Running&);

schema::TaskSelector schema_of(const TaskSelector&);
schema::TaskRange schema_of(const TaskRange&);
schema::ProcessExplained schema_of(const ProcessExplained&);
schema::TaskExplained schema_of(const TaskExplained&);
schema::TaskExplained::Candidate schema_of(const event::Candidate&);
schema::TaskExplained::Needs schema_of(const TaskNeeds&);
schema::RunEstimate schema_of(const RunEstimate&);
schema::CriticalPath schema_of(const PathLeft&);
schema::HeldOutputs schema_of(const HeldOutputs&);
schema::RunningNow schema_of(const RunningNow&);

schema::AskSubmit schema_of(const client::AskSubmit&);
schema::AskFollow schema_of(const client::AskFollow&);
schema::AskJournal schema_of(const client::AskJournal&);
schema::Answer schema_of(const client::Answer&);
schema::TaskSettled schema_of(const client::TaskSettled&);
schema::JobEnded schema_of(const client::JobEnded&);
schema::JobFilter schema_of(const JobFilter&);
schema::JobCounts schema_of(const JobCounts&);
schema::JobInfo schema_of(const JobInfo&);
schema::JobDetails schema_of(const JobDetails&);
schema::TaskInfo schema_of(const TaskInfo&);
schema::ClassInfo schema_of(const ClassInfo&);
schema::TaskProgress schema_of(const TaskProgress&);
schema::WorkerInfo schema_of(const WorkerInfo&);
schema::NodeInfo schema_of(const NodeInfo&);
schema::HeardOf schema_of(const HeardOf&);
schema::OutputInfo schema_of(const OutputInfo&);
schema::JournalPage schema_of(const JournalPage&);
schema::JournalPlace schema_of(const JournalPlace&);

schema::ProgramId schema_of(const ProgramId&);
schema::Launch schema_of(const Launch&);
schema::Endpoint schema_of(const Endpoint&);
schema::WorkerUp schema_of(const keeper::WorkerUp&);
schema::WorkerDown schema_of(const keeper::WorkerDown&);
schema::WorkerDown::Running schema_of(const RunningAttempt&);
schema::ProgramBytes schema_of(const keeper::ProgramBytes&);
schema::SaveCopy schema_of(const keeper::SaveCopy&);
schema::Begin schema_of(const keeper::Begin&);

/// The words that pointers in a value lead to, for a type that is not written field by field.
template <class T>
struct Below;

template <class T>
concept HasOwnWeight = requires(const T& value) {
  { Below<T>::words(value) } -> std::same_as<std::size_t>;
};
template <class T>
concept HasSchema = requires(const T& value) {
  schema_of(value);
};

template <class T>
std::size_t words_below(const T& value);

/// Words outside the struct that has the field.
template <class T>
std::size_t field_words(const T& field) {
  if constexpr (HasSchema<T>) {
    return words_of<decltype(schema_of(field))> + words_below(field);
  } else {
    return words_below(field);
  }
}

template <class T>
std::size_t words_below(const T& value) {
  if constexpr (HasOwnWeight<T>) {
    return Below<T>::words(value);
  } else if constexpr (std::is_aggregate_v<T>) {
    return with_fields(value,
                       [](const auto&... fields) { return (std::size_t{0} + ... + field_words(fields)); });
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "how is it written?");
    return 0;
  }
}

template <>
struct Below<std::string> {
  static std::size_t words(const std::string& text) { return text_words(text); }
};
template <>
struct Below<Blob> {
  static std::size_t words(const Blob& bytes) { return data_words(bytes); }
};
template <class T>
struct Below<std::optional<T>> {
  static std::size_t words(const std::optional<T>& value) { return value ? field_words(*value) : 0; }
};
template <class T>
struct Below<std::shared_ptr<const T>> {
  static std::size_t words(const std::shared_ptr<const T>& value) { return value ? field_words(*value) : 0; }
};
template <class T, std::size_t count>
struct Below<std::array<T, count>> {
  static std::size_t words(const std::array<T, count>&) {
    static_assert(sizeof(T) == 8);
    return count;
  }
};
template <class T>
struct Below<std::vector<T>> {
  static std::size_t words(const std::vector<T>& list) {
    if constexpr (HasSchema<T>) {
      return list_words<decltype(schema_of(list.front()))>(list.size()) + sum<&words_below<T>>(list);
    } else if constexpr (std::same_as<T, bool>) {
      return bits_words(list.size(), 1);
    } else if constexpr (std::same_as<T, std::string>) {  // A text in a list is written even when empty.
      return list.size() + sum<&written_words>(list);
    } else if constexpr (std::same_as<T, Blob>) {  // Absent differs from empty.
      return list_words<schema::MaybeBytes>(list.size()) + sum<&data_words>(list);
    } else {
      static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "how is it written?");
      return sizeof(T) == 8 ? list.size() : bits_words(list.size(), 32);
    }
  }

 private:
  static std::size_t written_words(const std::string& text) { return written_text_words(text); }
  template <auto weigh>
  static std::size_t sum(const std::vector<T>& list) {
    std::size_t total = 0;
    for (const T& one : list) total += weigh(one);
    return total;
  }
};

// ---- Types that are written otherwise

template <>
struct Below<Error> {  // Longer texts are cut.
  static std::size_t words(const Error& error) { return wire::words(error) - words_of<schema::Error>; }
};
template <>
struct Below<detail::Fragment> {
  static std::size_t words(const detail::Fragment& graph) { return wire::words(graph); }
};
template <>
struct Below<message::WantedInput> {  // The name's parts are fields of the struct.
  static std::size_t words(const message::WantedInput& wanted) { return words_below(wanted.holders); }
};
template <>
struct Below<message::NeededFirst> {  // Likewise those of the tasks.
  static std::size_t words(const message::NeededFirst&) { return 0; }
};
template <>
struct Below<std::vector<message::ShardHome>> {  // Two lists: lives and epochs.
  static std::size_t words(const std::vector<message::ShardHome>& homes) { return 2 * homes.size(); }
};
template <>
struct Below<message::Release> {  // A member of the union is written even when it is empty.
  static std::size_t words(const message::Release& release) {
    return 1 + release.names.size() * words_of<schema::OutputName>;
  }
};
template <>
struct Below<TaskNeeds> {
  static std::size_t words(const TaskNeeds&) { return 0; }
};
template <>
struct Below<Claim> {  // The endpoint's addresses are fields of the claim's struct.
  static std::size_t words(const Claim& claim) {
    return words_below(claim.endpoint) + words_below(claim.load);
  }
};

}  // namespace dag::wire
