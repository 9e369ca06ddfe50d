#include "libdag/consensus/records.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

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
  kind_snapshot = 5,
  kind_tombstone = 6,
  kind_forgotten = 7,
};

/// All that is stored of a job: the vote, the snapshot's configuration and state, the entries behind it.
/// Index and term of the snapshot are the record's.
using Whole = std::tuple<Term, std::optional<ProcessId>, Configuration, Blob, std::vector<Entry>>;
/// The runs of an IdSet.
using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
/// A piece of an encoded Whole. append_snapshot puts the whole encoding together.
struct PiecePayload {
  std::uint64_t offset = 0, size_bytes = 0;  ///< of all pieces
  std::span<const std::byte> bytes;
};

template <class T>
void append_value(const std::function<void(const log::Record&)>& append, log::Record record, const T& value) {
  Writer bytes;
  dag::encode(bytes, value);
  record.payload = bytes.bytes();
  append(record);
}

/// The whole of a payload as a value of this type; nothing when it is none.
template <class T>
std::optional<T> value_of(std::span<const std::byte> payload) {
  try {
    Reader bytes(payload);
    T value = dag::decode<T>(bytes);
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

bool sound(const Snapshot& snapshot) {
  return !snapshot.configuration.voters.empty() && sound(snapshot.configuration);
}
bool sound(const Entry& entry) { return entry.type <= EntryType::command && sound(entry.configuration); }

/// The bytes of a Whole, in parts: its state is nearly all of them, and memory that is written to for the
/// first time costs more than the copy.
class WholeBytes {
 public:
  explicit WholeBytes(const Stored& stored) {
    const Snapshot& snapshot = *stored.snapshot;
    dag::encode(before_, stored.vote.term);
    dag::encode(before_, stored.vote.candidate);
    dag::encode(before_, snapshot.configuration);
    dag::encode(before_, static_cast<bool>(snapshot.state));
    before_.align(8);
    before_.count(snapshot.state.size_bytes());
    // The part behind is aligned as in a single buffer.
    const std::size_t begins = before_.bytes().size() + snapshot.state.size_bytes();
    for (std::size_t i = 0; i < begins % 8; ++i) dag::encode(behind_, std::byte{0});
    dag::encode(behind_, stored.entries);
    parts_ = {before_.bytes(), snapshot.state.bytes(), behind_.bytes().subspan(begins % 8)};
  }

  std::size_t size() const { return parts_[0].size() + parts_[1].size() + parts_[2].size(); }
  void copy(std::size_t offset, std::size_t size, std::vector<std::byte>& to) const {
    for (const std::span<const std::byte> part : parts_) {
      const std::size_t skipped = std::min(offset, part.size());
      const auto piece = part.subspan(skipped, std::min(size, part.size() - skipped));
      to.insert(to.end(), piece.begin(), piece.end());
      offset -= skipped;
      size -= piece.size();
    }
  }

 private:
  Writer before_, behind_;
  std::array<std::span<const std::byte>, 3> parts_;
};

void append_snapshot(JobId job, const Stored& stored, const std::function<void(const log::Record&)>& append) {
  const WholeBytes all(stored);
  std::vector<std::byte> payload;
  for (std::size_t offset = 0; offset < all.size(); offset += snapshot_piece_bytes) {
    const std::size_t size = std::min(all.size() - offset, snapshot_piece_bytes);
    Writer head;  // As of a PiecePayload.
    for (const std::uint64_t number : {offset, all.size(), size}) dag::encode(head, number);
    payload.assign(head.bytes().begin(), head.bytes().end());
    payload.reserve(payload.size() + size);
    all.copy(offset, size, payload);
    append({job, stored.snapshot->term, stored.snapshot->index, kind_snapshot, payload});
  }
}

}  // namespace

void each_record(JobId job, const StoredChange& change, const Stored& after,
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
                        [&](const Snapshot&) { append_snapshot(job, after, append); }},
             change);
}

log::Record tombstone(JobId job) { return {job, 0, 0, kind_tombstone, {}}; }

void forgotten_record(const IdSet& jobs, const std::function<void(const log::Record&)>& append) {
  append_value(append, {JobId{}, 0, 0, kind_forgotten, {}}, jobs.ranges());
}

Status StoredLogs::take(const log::Record& record, std::uint64_t segment) {
  if (record.type == kind_tombstone) {
    if (!record.payload.empty()) return damaged(record, "a tombstone that says something");
    logs_.erase(record.job);
    forgotten_.insert(record.job.value);
    if (!forgotten_segment_) forgotten_segment_ = segment;
    return Done{};
  }
  if (record.type == kind_forgotten) return take_forgotten(record, segment);
  Log& log = logs_[record.job];
  if (record.type == kind_snapshot) return take_piece(log, record, segment);
  log.begun = true;
  log.coming.reset();
  return record.type == kind_vote ? take_vote(log, record, segment) : take_entry(log, record);
}

Status StoredLogs::take_forgotten(const log::Record& record, std::uint64_t segment) {
  const auto runs = value_of<Runs>(record.payload);
  if (!runs) return damaged(record, "it is no list of jobs");
  for (const auto& [first, last] : *runs) {
    if (last < first) return damaged(record, "a list of jobs that ends before it begins");
    forgotten_.insert(first, last);
  }
  forgotten_segment_ = segment;
  return Done{};
}

Status StoredLogs::take_vote(Log& log, const log::Record& record, std::uint64_t segment) {
  const auto candidate = value_of<std::optional<ProcessId>>(record.payload);
  if (!candidate) return damaged(record, "it is no vote");
  log.stored.put(Vote{record.term, *candidate});
  if (!log.stored.snapshot) log.segment = segment;
  return Done{};
}

Status StoredLogs::take_piece(Log& log, const log::Record& record, std::uint64_t segment) {
  const auto piece = value_of<PiecePayload>(record.payload);
  if (!piece || piece->bytes.empty() || piece->offset > piece->size_bytes ||
      piece->bytes.size() > piece->size_bytes - piece->offset)
    return damaged(record, "it is no piece of a snapshot");
  std::optional<Coming> coming = std::exchange(log.coming, std::nullopt);
  if (piece->offset == 0) {
    log.begun = true;
    coming = {record.index, record.term, piece->size_bytes, segment, {}};
  } else if (!coming && !log.begun) {
    return Done{};
  } else if (!coming || record.index != coming->index || record.term != coming->term ||
             piece->size_bytes != coming->size_bytes || piece->offset != coming->bytes.size()) {
    return damaged(record, "a piece of a snapshot that does not follow the one before it");
  }
  coming->bytes.insert(coming->bytes.end(), piece->bytes.begin(), piece->bytes.end());
  if (coming->bytes.size() == coming->size_bytes) return take_snapshot(log, record, *coming);
  log.coming = std::move(coming);
  return Done{};
}

Status StoredLogs::take_snapshot(Log& log, const log::Record& record, const Coming& whole) {
  auto parts = value_of<Whole>(whole.bytes);
  if (!parts) return damaged(record, "it is no snapshot");
  auto& [term, candidate, configuration, state, entries] = *parts;
  Stored stored{{term, candidate},
                Snapshot{whole.index, whole.term, std::move(configuration), std::move(state)},
                std::move(entries)};
  if (!sound(*stored.snapshot) ||
      !std::all_of(stored.entries.begin(), stored.entries.end(), [](const Entry& one) { return sound(one); }))
    return damaged(record, "it is a snapshot of what cannot be");
  if (log.stored.snapshot && whole.index < log.stored.snapshot->index)
    return damaged(record, "a snapshot that is older than the one before it");
  log.stored = std::move(stored);
  log.segment = whole.segment;
  return Done{};
}

Status StoredLogs::take_entry(Log& log, const log::Record& record) {
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
  Stored& stored = log.stored;
  if (!stored.snapshot) {
    log.headless = true;
    return Done{};
  }
  const bool follows = record.index > stored.snapshot->index &&
                       record.index <= stored.snapshot->index + stored.entries.size() + 1;
  if (!follows) return damaged(record, "it does not follow what is there");
  stored.put(StoredEntries{record.index, {std::move(entry)}});
  return Done{};
}

std::map<JobId, std::uint64_t> StoredLogs::segments_needed() const {
  std::map<JobId, std::uint64_t> needed;
  for (const auto& [job, log] : logs_) {
    if (log.stored.snapshot || log.stored.vote != Vote{}) needed[job] = log.segment;
  }
  return needed;
}

Result<std::map<JobId, Stored>> StoredLogs::release() {
  std::map<JobId, Stored> found;
  for (auto& [job, log] : logs_) {
    if (log.headless && !log.stored.snapshot) {
      return Error{ErrorCode::log_damaged, to_string(job) + " has entries in the log, and no beginning",
                   "segments of the log are missing: replace the disk, and start this node without data"};
    }
    if (log.stored.snapshot || log.stored.vote != Vote{}) found[job] = std::move(log.stored);
  }
  logs_.clear();
  return found;
}

}  // namespace dag::consensus
