// schema/consensus.capnp as values.

#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

using consensus::Append;
using consensus::AppendAnswer;
using consensus::AskVote;
using consensus::Configuration;
using consensus::Entry;
using consensus::EntryType;
using consensus::Outdated;
using consensus::Over;
using consensus::Seat;
using consensus::SnapshotAnswer;
using consensus::SnapshotPiece;
using consensus::TakeOver;
using consensus::VoteAnswer;

// ---- Writing

void write_seat(schema::Seat::Builder to, const Seat& seat) {
  to.setNode(seat.node.value);
  to.setDisk(seat.disk);
}
template <class Init>
void write_seats(const std::vector<Seat>& seats, Init init) {
  write_list(seats, init, [](auto& list, unsigned i, const Seat& seat) { write_seat(list[i], seat); });
}
void write_configuration(schema::Configuration::Builder to, const Configuration& who) {
  write_seats(who.voters, [&](unsigned count) { return to.initVoters(count); });
  write_seats(who.learners, [&](unsigned count) { return to.initLearners(count); });
}

void write_body(schema::Consensus::Builder to, const AskVote& ask) {
  auto builder = to.initAskVote();
  builder.setLastIndex(ask.last_index);
  builder.setLastTerm(ask.last_term);
  builder.setPre(ask.pre);
  builder.setTransfer(ask.transfer);
}
void write_body(schema::Consensus::Builder to, const VoteAnswer& answer) {
  auto builder = to.initVoteAnswer();
  builder.setGranted(answer.granted);
  builder.setPre(answer.pre);
}
void write_body(schema::Consensus::Builder to, const Append& append) {
  auto builder = to.initAppend();
  builder.setPreviousIndex(append.previous_index);
  builder.setPreviousTerm(append.previous_term);
  builder.setSettled(append.settled);
  builder.setBeat(append.beat);
  builder.setRests(append.rests);
  write_list(
      append.entries, [&](unsigned count) { return builder.initEntries(count); },
      [](auto& list, unsigned i, const Entry& entry) {
        auto one = list[i];
        one.setTerm(entry.term);
        one.setType(static_cast<std::uint8_t>(entry.type));
        if (entry.command) one.setCommand(as_data(entry.command));
        if (entry.type == EntryType::configuration)
          write_configuration(one.initConfiguration(), entry.configuration);
      });
}
void write_body(schema::Consensus::Builder to, const AppendAnswer& answer) {
  auto builder = to.initAppendAnswer();
  builder.setMatches(answer.matches);
  builder.setEmpty(answer.empty);
  builder.setIndex(answer.index);
  builder.setBeat(answer.beat);
}
void write_body(schema::Consensus::Builder to, const SnapshotPiece& piece) {
  auto builder = to.initSnapshotPiece();
  builder.setIndex(piece.index);
  builder.setIndexTerm(piece.index_term);
  write_configuration(builder.initConfiguration(), piece.configuration);
  builder.setSizeBytes(piece.size_bytes);
  builder.setOffset(piece.offset);
  if (piece.bytes) builder.setBytes(as_data(piece.bytes));
  builder.setBeat(piece.beat);
}
void write_body(schema::Consensus::Builder to, const SnapshotAnswer& answer) {
  auto builder = to.initSnapshotAnswer();
  builder.setIndex(answer.index);
  builder.setReceivedBytes(answer.received_bytes);
  builder.setBeat(answer.beat);
}
void write_body(schema::Consensus::Builder to, const TakeOver&) { to.setTakeOver(); }
void write_body(schema::Consensus::Builder to, const Outdated&) { to.setOutdated(); }
void write_body(schema::Consensus::Builder to, const Over&) { to.setOver(); }

// ---- Reading

Seat read_seat(schema::Seat::Reader from) { return {ProcessId{from.getNode()}, from.getDisk()}; }

std::vector<Seat> read_seats(capnp::List<schema::Seat>::Reader from, Reading& reading, const char* field) {
  reading.count(from.size(), seats_max, field);
  std::vector<Seat> seats;
  for (const auto seat : from) seats.push_back(read_seat(seat));
  if (std::adjacent_find(seats.begin(), seats.end(), std::greater_equal<>()) != seats.end())
    throw Invalid{std::string(field) + " is not sorted"};
  return seats;
}
Configuration read_configuration(schema::Configuration::Reader from, Reading& reading) {
  return {read_seats(from.getVoters(), reading, "Configuration.voters"),
          read_seats(from.getLearners(), reading, "Configuration.learners")};
}

Append read_append(const Seat& seat, consensus::Term term, schema::Append::Reader from, Reading& reading) {
  Append append{
      seat,           term,           from.getPreviousIndex(), from.getPreviousTerm(), {}, from.getSettled(),
      from.getBeat(), from.getRests()};
  reading.count(from.getEntries().size(), entries_max, "Append.entries");
  append.entries.reserve(from.getEntries().size());
  for (const auto one : from.getEntries()) {
    Entry& entry = append.entries.emplace_back();
    entry.term = one.getTerm();
    if (one.getType() > static_cast<std::uint8_t>(EntryType::command))
      throw Invalid{"Append.entries has an entry of a kind that is not known"};
    entry.type = static_cast<EntryType>(one.getType());
    if (one.hasCommand())
      entry.command = blob_from(one.getCommand(), log_bytes_max, "Append.entries.command");
    if (entry.type != EntryType::configuration) continue;
    entry.configuration = read_configuration(one.getConfiguration(), reading);
    if (entry.configuration.voters.empty())
      throw Invalid{"Append.entries has a configuration without voters"};
  }
  return append;
}

SnapshotPiece read_piece(const Seat& seat, consensus::Term term, schema::SnapshotPiece::Reader from,
                         Reading& reading) {
  SnapshotPiece piece{seat,
                      term,
                      from.getIndex(),
                      from.getIndexTerm(),
                      read_configuration(from.getConfiguration(), reading),
                      from.getSizeBytes(),
                      from.getOffset(),
                      {},
                      from.getBeat()};
  if (from.hasBytes()) piece.bytes = blob_from(from.getBytes(), log_bytes_max, "SnapshotPiece.bytes");
  if (piece.configuration.voters.empty()) throw Invalid{"SnapshotPiece.configuration has no voters"};
  if (piece.offset > piece.size_bytes || piece.bytes.size_bytes() > piece.size_bytes - piece.offset)
    throw Invalid{"a piece lies outside its snapshot"};
  return piece;
}

}  // namespace

template <>
struct Below<Entry> {
  static std::size_t words(const Entry& entry) {
    return field_words(entry.command) +
           (entry.type == EntryType::configuration ? field_words(entry.configuration) : 0);
  }
};

std::size_t words(const consensus::Addressed& message) {
  return words_of<schema::Consensus> +
         std::visit([](const auto& one) { return field_words(one); }, message.message);
}

void write(schema::Consensus::Builder to, const consensus::Addressed& message) {
  to.setJob(message.job.value);
  std::visit(
      [&](const auto& one) {
        write_seat(to.initFrom(), one.from);
        to.setTerm(one.term);
        write_body(to, one);
      },
      message.message);
}

std::optional<consensus::Addressed> read(schema::Consensus::Reader from, Reading& reading) {
  const Seat seat = read_seat(from.getFrom());
  const consensus::Term term = from.getTerm();
  const auto addressed = [&](consensus::Message message) {
    return consensus::Addressed{JobId{from.getJob()}, std::move(message)};
  };
  switch (from.which()) {
    case schema::Consensus::ASK_VOTE: {
      const auto ask = from.getAskVote();
      return addressed(
          AskVote{seat, term, ask.getLastIndex(), ask.getLastTerm(), ask.getPre(), ask.getTransfer()});
    }
    case schema::Consensus::VOTE_ANSWER:
      return addressed(
          VoteAnswer{seat, term, from.getVoteAnswer().getGranted(), from.getVoteAnswer().getPre()});
    case schema::Consensus::APPEND:
      return addressed(read_append(seat, term, from.getAppend(), reading));
    case schema::Consensus::APPEND_ANSWER: {
      const auto answer = from.getAppendAnswer();
      return addressed(AppendAnswer{seat, term, answer.getMatches(), answer.getIndex(), answer.getEmpty(),
                                    answer.getBeat()});
    }
    case schema::Consensus::SNAPSHOT_PIECE:
      return addressed(read_piece(seat, term, from.getSnapshotPiece(), reading));
    case schema::Consensus::SNAPSHOT_ANSWER: {
      const auto answer = from.getSnapshotAnswer();
      return addressed(
          SnapshotAnswer{seat, term, answer.getIndex(), answer.getReceivedBytes(), answer.getBeat()});
    }
    case schema::Consensus::TAKE_OVER:
      return addressed(TakeOver{seat, term});
    case schema::Consensus::OUTDATED:
      return addressed(Outdated{seat, term});
    case schema::Consensus::OVER:
      return addressed(Over{seat, term});
  }
  return std::nullopt;
}

}  // namespace dag::wire
