#include "libdag/journal/event_bytes.hpp"

#include <cstring>

namespace dag {

template <>
struct Codec<Duration> {
  static void encode(Writer& writer, const Duration& duration) { dag::encode(writer, duration.count()); }
  static Duration decode(Reader& reader) { return Duration(dag::decode<Duration::rep>(reader)); }
};

/// The last part of its event. Absent in older events, and in those of a job that retries no other.
template <>
struct Codec<event::JobBegan> {
  static void encode(Writer& writer, const event::JobBegan& began) {
    dag::encode(writer, began.name);
    dag::encode(writer, began.tasks);
    if (began.retries == JobId{}) return;
    dag::encode(writer, began.retries.value);
    dag::encode(writer, began.done);
  }
  static event::JobBegan decode(Reader& reader) {
    event::JobBegan began;
    began.name = dag::decode<std::string>(reader);
    began.tasks = dag::decode<std::uint64_t>(reader);
    if (reader.at_end()) return began;
    began.retries = JobId{dag::decode<std::uint64_t>(reader)};
    began.done = dag::decode<std::uint64_t>(reader);
    return began;
  }
};

/// The last part of its event. Older events end before the number.
template <>
struct Codec<event::Said> {
  static void encode(Writer& writer, const event::Said& said) {
    dag::encode(writer, said.name);
    dag::encode(writer, said.line);
    dag::encode(writer, said.number);
  }
  static event::Said decode(Reader& reader) {
    event::Said said;
    said.name = dag::decode<std::string>(reader);
    said.line = dag::decode<std::string>(reader);
    if (!reader.at_end()) said.number = dag::decode<std::uint32_t>(reader);
    return said;
  }
};

namespace {

constexpr std::uint32_t no_lane = ~std::uint32_t{0};

/// The common fields of all events, in one piece, since lanes write an event per task.
struct Common {
  std::int64_t at_ns;
  std::uint64_t job;
  std::uint32_t process, lane;
  std::uint32_t task_origin, task_index;
  std::uint32_t attempt_term, attempt_count, attempt_number;
  std::uint32_t form;  ///< of what follows
};
static_assert(sizeof(Common) == 48);

constexpr std::uint32_t any_form = 0, finished_form = 1;

Common common_of(const JournalEvent& record) {
  return {record.at.since_start.count(),
          record.job.value,
          record.place.process.value,
          record.place.lane.value_or(no_lane),
          record.task.origin,
          record.task.index,
          record.attempt.epoch.term,
          record.attempt.epoch.count,
          record.attempt.number,
          any_form};
}

}  // namespace

std::optional<FinishedBytes> finished_bytes(const JournalEvent& record) {
  const auto* run = std::get_if<event::Ran>(&record.what);
  if (run == nullptr || run->outcome != Outcome::finished || !run->error.empty()) return std::nullopt;
  Common common = common_of(record);
  common.form = finished_form;
  FinishedBytes bytes;
  const std::int64_t ran_ns = run->ran.count();
  std::memcpy(bytes.data(), &common, sizeof common);
  std::memcpy(bytes.data() + sizeof common, &ran_ns, sizeof ran_ns);
  return bytes;
}

void write_record(Writer& to, const JournalEvent& record) {
  if (const auto finished = finished_bytes(record)) return to.append(finished->data(), finished->size());
  const Common common = common_of(record);
  to.append(&common, sizeof common);
  dag::encode(to, record.what);
}

std::optional<JournalEvent> read_record(std::span<const std::byte> bytes) {
  try {
    Reader reader(bytes);
    Common common;
    std::memcpy(&common, reader.take(sizeof common).data(), sizeof common);
    if (common.form > finished_form) return std::nullopt;
    JournalEvent record{Instant{Duration(common.at_ns)},
                        {ProcessId{common.process}},
                        JobId{common.job},
                        TaskId{common.task_origin, common.task_index},
                        AttemptId{{common.attempt_term, common.attempt_count}, common.attempt_number},
                        common.form == finished_form
                            ? EventWhat(event::Ran{Outcome::finished, dag::decode<Duration>(reader)})
                            : dag::decode<EventWhat>(reader)};
    if (common.lane != no_lane) record.place.lane = common.lane;
    if (reader.at_end()) return record;
  } catch (const Failure&) {
  }
  return std::nullopt;
}

}  // namespace dag
