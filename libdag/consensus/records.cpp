#include "libdag/consensus/records.hpp"

#include "dag/codec.hpp"
#include "libdag/base/overloaded.hpp"

namespace dag::consensus {
namespace {

/// Kinds of record; entries are kept by their own types.
enum Kind : std::uint8_t {
  kind_noop = 1,
  kind_configuration = 2,
  kind_command = 3,
  kind_vote = 4,
  kind_snapshot = 5
};

struct SnapshotPayload {
  Configuration configuration;
  Blob state;
};

template <class T>
void append_value(const std::function<void(const log::Record&)>& append, log::Record record, const T& value) {
  Writer bytes;
  detail::encode(bytes, value);
  record.payload = bytes.bytes();
  append(record);
}

/// The whole of a payload as a value of this type; nothing when it is none.
template <class T>
std::optional<T> value_of(std::span<const std::byte> payload) {
  try {
    Reader bytes(payload);
    T value = detail::decode<T>(bytes);
    return bytes.at_end() ? std::optional<T>(std::move(value)) : std::nullopt;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

bool sorted(const std::vector<Seat>& seats) {
  return std::adjacent_find(seats.begin(), seats.end(), std::greater_equal<>()) == seats.end();
}
bool sound(const Configuration& all) { return sorted(all.voters) && sorted(all.learners); }

Error damaged(const log::Record& record, const char* what) {
  return {ErrorCode::log_damaged,
          "record " + std::to_string(record.index) + " of " + to_string(record.job) + ": " + what,
          "the log was written by another version, or by something else"};
}

}  // namespace

void each_record(JobId job, const StoredChange& change,
                 const std::function<void(const log::Record&)>& append) {
  std::visit(Overloaded{[&](const Vote& vote) {
                          append_value(append, {job, vote.term, 0, kind_vote, {}}, vote.candidate);
                        },
                        [&](const StoredEntries& more) {
                          Index index = more.from;
                          for (const Entry& entry : more.entries) {
                            log::Record record{job, entry.term, index++, kind_noop, {}};
                            if (entry.type == EntryType::configuration) {
                              record.type = kind_configuration;
                              append_value(append, record, entry.configuration);
                              continue;
                            }
                            if (entry.type == EntryType::command) {
                              record.type = kind_command;
                              record.payload = entry.command.bytes();
                            }
                            append(record);
                          }
                        },
                        [&](const Snapshot& snapshot) {
                          append_value(append, {job, snapshot.term, snapshot.index, kind_snapshot, {}},
                                       SnapshotPayload{snapshot.configuration, snapshot.state});
                        }},
             change);
}

Status StoredLogs::take(const log::Record& record) {
  Stored& log = logs_[record.job];
  if (record.type == kind_vote) {
    const auto candidate = value_of<std::optional<ProcessId>>(record.payload);
    if (!candidate) return damaged(record, "it is no vote");
    log.put(Vote{record.term, *candidate});
    return Done{};
  }
  if (record.type == kind_snapshot) {
    auto payload = value_of<SnapshotPayload>(record.payload);
    if (!payload || payload->configuration.voters.empty() || !sound(payload->configuration))
      return damaged(record, "it is no snapshot");
    if (log.snapshot && record.index < log.snapshot->index)
      return damaged(record, "a snapshot that is older than the one before it");
    log.put(
        Snapshot{record.index, record.term, std::move(payload->configuration), std::move(payload->state)});
    return Done{};
  }
  Entry entry{record.term, EntryType::noop};
  if (record.type == kind_command) {
    entry.type = EntryType::command;
    entry.command = Blob(record.payload);
  } else if (record.type == kind_configuration) {
    auto configuration = value_of<Configuration>(record.payload);
    if (!configuration || !sound(*configuration)) return damaged(record, "it is no configuration");
    entry.type = EntryType::configuration;
    entry.configuration = std::move(*configuration);
  } else if (record.type != kind_noop) {
    return damaged(record, "its kind is not known");
  } else if (!record.payload.empty()) {
    return damaged(record, "it says something, and has nothing to say");
  }
  const bool follows = log.snapshot && record.index > log.snapshot->index &&
                       record.index <= log.snapshot->index + log.entries.size() + 1;
  if (!follows) return damaged(record, "it does not follow what is there");
  log.put(StoredEntries{record.index, {std::move(entry)}});
  return Done{};
}

}  // namespace dag::consensus
