#include "libdag/consensus/records.hpp"

#include <cstring>

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

class Bytes {
 public:
  template <class Number>
  void put(Number number) {
    const auto bytes = std::as_bytes(std::span(&number, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put(const std::vector<Seat>& seats) {
    put(static_cast<std::uint32_t>(seats.size()));
    for (const Seat& seat : seats) {
      put(seat.node.value);
      put(seat.disk);
    }
  }
  void put(const Configuration& configuration) {
    put(configuration.voters);
    put(configuration.learners);
  }
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::span<const std::byte> view() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what Bytes wrote; once something is missing, all that follows is.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class Number>
  Number take() {
    Number number{};
    if (left_.size() < sizeof number) {
      whole_ = false;
      return number;
    }
    std::memcpy(&number, left_.data(), sizeof number);
    left_ = left_.subspan(sizeof number);
    return number;
  }
  std::vector<Seat> seats() {
    constexpr std::size_t seat_bytes = 12;
    const auto count = take<std::uint32_t>();
    if (count > left_.size() / seat_bytes) whole_ = false;
    std::vector<Seat> seats;
    for (std::uint32_t i = 0; whole_ && i < count; ++i) {
      const ProcessId node{take<std::uint32_t>()};
      seats.push_back({node, take<std::uint64_t>()});
    }
    if (std::adjacent_find(seats.begin(), seats.end(), std::greater_equal<>()) != seats.end()) whole_ = false;
    return seats;
  }
  Configuration configuration() {
    std::vector<Seat> voters = seats();
    return {std::move(voters), seats()};
  }
  std::span<const std::byte> rest() { return std::exchange(left_, {}); }
  /// All was there, and nothing else.
  bool whole() const { return whole_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool whole_ = true;
};

Error damaged(const log::Record& record, const char* what) {
  return {ErrorCode::log_damaged,
          "record " + std::to_string(record.index) + " of " + to_string(record.job) + ": " + what,
          "the log was written by another version, or by something else"};
}

}  // namespace

void each_record(JobId job, const StoredChange& change,
                 const std::function<void(const log::Record&)>& append) {
  std::visit(Overloaded{[&](const Vote& vote) {
                          Bytes bytes;
                          if (vote.candidate) bytes.put(vote.candidate->value);
                          append({job, vote.term, 0, kind_vote, bytes.view()});
                        },
                        [&](const StoredEntries& more) {
                          Index index = more.from;
                          for (const Entry& entry : more.entries) {
                            Bytes bytes;
                            std::uint8_t kind = kind_noop;
                            if (entry.type == EntryType::command) {
                              kind = kind_command;
                              bytes.put(entry.command.bytes());
                            } else if (entry.type == EntryType::configuration) {
                              kind = kind_configuration;
                              bytes.put(entry.configuration);
                            }
                            append({job, entry.term, index++, kind, bytes.view()});
                          }
                        },
                        [&](const Snapshot& snapshot) {
                          Bytes bytes;
                          bytes.put(snapshot.configuration);
                          bytes.put(snapshot.state.bytes());
                          append({job, snapshot.term, snapshot.index, kind_snapshot, bytes.view()});
                        }},
             change);
}

Status StoredLogs::take(const log::Record& record) {
  Reader bytes(record.payload);
  Stored& log = logs_[record.job];
  if (record.type == kind_vote) {
    Vote vote{record.term, std::nullopt};
    if (!record.payload.empty()) vote.candidate = ProcessId{bytes.take<std::uint32_t>()};
    if (!bytes.whole()) return damaged(record, "it is no vote");
    log.put(vote);
    return Done{};
  }
  if (record.type == kind_snapshot) {
    Snapshot snapshot{record.index, record.term, bytes.configuration(), {}};
    snapshot.state = Blob(bytes.rest());
    if (!bytes.whole() || snapshot.configuration.voters.empty()) return damaged(record, "it is no snapshot");
    if (log.snapshot && snapshot.index < log.snapshot->index)
      return damaged(record, "a snapshot that is older than the one before it");
    log.put(std::move(snapshot));
    return Done{};
  }
  Entry entry{record.term, EntryType::noop};
  if (record.type == kind_command) {
    entry.type = EntryType::command;
    entry.command = Blob(bytes.rest());
  } else if (record.type == kind_configuration) {
    entry.type = EntryType::configuration;
    entry.configuration = bytes.configuration();
  } else if (record.type != kind_noop) {
    return damaged(record, "its kind is not known");
  }
  if (!bytes.whole()) return damaged(record, "it is no entry of its kind");
  const bool follows = log.snapshot && record.index > log.snapshot->index &&
                       record.index <= log.snapshot->index + log.entries.size() + 1;
  if (!follows) return damaged(record, "it does not follow what is there");
  log.put(StoredEntries{record.index, {std::move(entry)}});
  return Done{};
}

}  // namespace dag::consensus
