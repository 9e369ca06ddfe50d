// The frame around the operations, and the only place where exceptions of Cap'n Proto are caught.

#include "libdag/wire/envelope.hpp"

#include <capnp/message.h>
#include <kj/exception.h>

#include <algorithm>
#include <cstring>

#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

constexpr std::size_t word_bytes = sizeof(capnp::word);
static_assert(conversation_of_replicas == static_cast<std::uint16_t>(schema::Operation::CONSENSUS));
static_assert(conversation_of_rings == static_cast<std::uint16_t>(schema::Operation::RING));
/// Segment table, root pointer, the envelope itself.
constexpr std::size_t fixed_words = 2 + words_of<schema::Envelope>;
static_assert((fixed_words + 1) * word_bytes <= frame_overhead_bytes);

/// Beyond its element of the list of operations.
std::size_t operation_words(const Operation& operation) {
  return std::visit(Overloaded{[](const Unknown&) -> std::size_t {
                                 DAG_CHECK(false && "Unknown is what arrives, not what is sent");
                                 return 0;
                               },
                               [](const auto& any) -> std::size_t {
                                 if constexpr (requires { words(any); }) {
                                   return words(any);
                                 } else {
                                   return field_words(any);
                                 }
                               }},
                    operation);
}

Error invalid(std::string what) {
  return {ErrorCode::frame_invalid, std::move(what),
          "the peer is broken, or not libdag; its frame was dropped"};
}

// ---- writing

void write_header(schema::Envelope::Builder to, std::uint16_t version, const link::FrameHeader& header) {
  to.setVersion(version);
  to.setCluster(header.cluster.value);
  to.setFrom(word_of(header.from));
  to.setTo(word_of(header.to));
  to.setSeq(header.seq);
  to.setChargeBytes(header.charge_bytes);
  to.setAck(header.ack);
  to.setAckBeyond(header.ack_beyond);
  to.setCreditOperations(header.credit_operations);
  to.setCreditBytes(header.credit_bytes);
  to.setProbe(header.probe);
  to.setAnswer(header.answer);
}

void write_operation(schema::Operation::Builder to, const Operation& operation, const CodeMap& codes) {
  std::visit(Overloaded{[](const Unknown&) {},
                        [&](const Unimplemented& unimplemented) {
                          auto builder = to.initUnimplemented();
                          builder.setConversation(unimplemented.conversation);
                          builder.setMessage(unimplemented.message);
                        },
                        [&](const Handshake& message) { write(to.initHandshake(), message); },
                        [&](const MembershipMessage& message) { write(to.initMembership(), message); },
                        [&](const JobMessage& message) { write(to, message, codes); },
                        [&](const ClientMessage& message) { write(to.initClient(), message, codes); },
                        [&](const KeeperMessage& message) { write(to.initKeeper(), message); },
                        [&](const RingMessage& message) { write(to.initRing(), message); },
                        [&](const consensus::Addressed& message) { write(to.initConsensus(), message); },
                        [&](const Piece& piece) {
                          auto builder = to.initPiece();
                          builder.setNumber(piece.number);
                          builder.setTotalBytes(piece.total_bytes);
                          builder.setOffset(piece.offset);
                          builder.setOutputBytes(piece.output_bytes);
                          if (piece.bytes) builder.setBytes(as_data(piece.bytes));
                        },
                        [&](const JobNote& note) {
                          auto builder = to.initJobNote();
                          builder.setJob(note.job.value);
                          builder.setKind(static_cast<schema::JobNote::Kind>(note.kind));
                          builder.setFraction(note.fraction);
                          if (!note.name.empty()) builder.setName(as_text(note.name));
                          if (!note.device.empty()) builder.setDevice(as_text(note.device));
                          if (!note.text.empty()) builder.setText(as_text(note.text));
                          builder.setTask(word_of(note.task));
                          builder.setNumber(note.number);
                        }},
             operation);
}

// ---- reading

link::FrameHeader read_header(schema::Envelope::Reader from) {
  link::FrameHeader header;
  header.cluster.value = from.getCluster();
  header.from = life_from(from.getFrom());
  header.to = life_from(from.getTo());
  header.seq = from.getSeq();
  header.charge_bytes = from.getChargeBytes();
  header.ack = from.getAck();
  header.ack_beyond = from.getAckBeyond();
  header.credit_operations = from.getCreditOperations();
  header.credit_bytes = from.getCreditBytes();
  header.probe = from.getProbe();
  header.answer = from.getAnswer();
  return header;
}

template <class Conversation>
Unknown unknown(schema::Operation::Reader operation, Conversation conversation) {
  return {static_cast<std::uint16_t>(operation.which()), static_cast<std::uint16_t>(conversation.which())};
}

/// A conversation's message, or what of it is unknown.
template <class Conversation>
void read_message(schema::Operation::Reader operation, Conversation conversation, Reading& reading,
                  Operation& into) {
  if (auto message = read(conversation, reading)) {
    into = std::move(*message);
  } else {
    into = unknown(operation, conversation);
  }
}
template <class Conversation>
void read_job_message(schema::Operation::Reader operation, Conversation conversation, Reading& reading,
                      Operation& into) {
  if (!read(conversation, reading, into.emplace<JobMessage>())) into = unknown(operation, conversation);
}

Piece read_piece(schema::Piece::Reader from) {
  Piece piece{from.getNumber(), from.getTotalBytes(), from.getOffset(),
              blob_from(from.getBytes(), limits::bulk_chunk_bytes, "Piece.bytes"), from.getOutputBytes()};
  if (piece.offset > piece.total_bytes || piece.output_bytes > piece.total_bytes ||
      piece.bytes.size_bytes() > piece.total_bytes - piece.offset) {
    throw Invalid{"a piece lies outside its message"};
  }
  return piece;
}

JobNote read_note(schema::JobNote::Reader from) {
  // Nothing depends on it, so one that a newer build says is a line of text.
  const auto kind =
      from.getKind() > schema::JobNote::Kind::TIMEOUT ? schema::JobNote::Kind::LOG : from.getKind();
  return {JobId{from.getJob()},
          static_cast<JobNote::Kind>(kind),
          from.getFraction(),
          text_from(from.getName(), label_bytes_max, "JobNote.name"),
          text_from(from.getDevice(), name_bytes_max, "JobNote.device"),
          text_from(from.getText(), text_bytes_max, "JobNote.text"),
          task_from(from.getTask()),
          from.getNumber()};
}

void read_operation(schema::Operation::Reader from, Reading& reading, Operation& into) {
  switch (from.which()) {
    case schema::Operation::INVALID:
      throw Invalid{"an operation says nothing"};
    case schema::Operation::UNIMPLEMENTED:
      into = Unimplemented{from.getUnimplemented().getConversation(), from.getUnimplemented().getMessage()};
      return;
    case schema::Operation::HANDSHAKE:
      return read_message(from, from.getHandshake(), reading, into);
    case schema::Operation::MEMBERSHIP:
      return read_message(from, from.getMembership(), reading, into);
    case schema::Operation::CELL:
      return read_job_message(from, from.getCell(), reading, into);
    case schema::Operation::TASKS:
      return read_job_message(from, from.getTasks(), reading, into);
    case schema::Operation::OUTPUTS:
      return read_job_message(from, from.getOutputs(), reading, into);
    case schema::Operation::PIECE:
      into = read_piece(from.getPiece());
      return;
    case schema::Operation::JOB_NOTE:
      into = read_note(from.getJobNote());
      return;
    case schema::Operation::CLIENT:
      return read_message(from, from.getClient(), reading, into);
    case schema::Operation::KEEPER:
      return read_message(from, from.getKeeper(), reading, into);
    case schema::Operation::RING:
      return read_message(from, from.getRing(), reading, into);
    case schema::Operation::CONSENSUS:
      return read_message(from, from.getConsensus(), reading, into);
  }
  into = Unknown{static_cast<std::uint16_t>(from.which()), whole_conversation};
}

bool spoken(std::uint16_t version) {
  return version >= link::versions_spoken.min && version <= link::versions_spoken.max;
}

Result<Envelope> read_envelope(schema::Envelope::Reader from, std::size_t frame_bytes, const CodeMap& codes) {
  Reading reading{codes, frame_bytes / word_bytes};
  Envelope envelope;
  envelope.version = from.getVersion();
  envelope.header = read_header(from);
  // Byte credit bounds our memory only when frames are charged by their size.
  if (envelope.header.seq > 0 &&
      envelope.header.charge_bytes < (frame_bytes - fixed_words * word_bytes) / 2) {
    throw Invalid{"a frame is charged for " + std::to_string(envelope.header.charge_bytes) +
                  " bytes and has " + std::to_string(frame_bytes)};
  }
  const auto operations = from.getOperations();
  check_count(operations.size(), operations_per_frame_max, "Envelope.operations");
  envelope.operations.reserve(operations.size());
  for (const auto operation : operations) {
    if (!spoken(envelope.version) && operation.which() != schema::Operation::HANDSHAKE) {
      return Error{ErrorCode::peer_version,
                   to_string(envelope.header.from) + " sent a frame of version " +
                       std::to_string(envelope.version) + " of the protocol, this build speaks " +
                       std::to_string(link::versions_spoken.min) + " to " +
                       std::to_string(link::versions_spoken.max),
                   "install the same release of libdag on both; neighbouring releases work together"};
    }
    read_operation(operation, reading, envelope.operations.emplace_back());
  }
  return envelope;
}

/// Neither empty nor cut within a word.
bool has_words(std::span<const std::byte> frame) {
  return frame.size() >= 2 * word_bytes && frame.size() % word_bytes == 0;
}

/// The words of the frame's only segment, in `aligned` if they have to be; empty when the frame is not as
/// long as it says.
kj::ArrayPtr<const capnp::word> segment_of(std::span<const std::byte> frame, Blob& aligned) {
  if (reinterpret_cast<std::uintptr_t>(frame.data()) % word_bytes != 0) {
    aligned = Blob(frame);
    frame = aligned.bytes();
  }
  const std::size_t words = frame.size() / word_bytes;
  std::uint32_t table[2];
  std::memcpy(table, frame.data(), sizeof table);
  if (table[0] != 0 || table[1] != words - 1) return {};
  return kj::arrayPtr(reinterpret_cast<const capnp::word*>(frame.data()) + 1, words - 1);
}

capnp::ReaderOptions limits_of(kj::ArrayPtr<const capnp::word> segment) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::max<std::uint64_t>(4096, 8 * segment.size());
  options.nestingLimit = 32;
  return options;
}

}  // namespace

std::size_t size_bytes(const Operation& operation) {
  return (words_of<schema::Operation> + operation_words(operation)) * word_bytes;
}

Result<Blob> encode(const Envelope& envelope, std::size_t frame_bytes_max, const CodeMap& codes) {
  return encode(envelope.version, envelope.header, envelope.operations, frame_bytes_max, codes);
}

Result<Blob> encode(std::uint16_t version, const link::FrameHeader& header,
                    std::span<const Operation> operations, std::size_t frame_bytes_max,
                    const CodeMap& codes) {
  std::size_t words = fixed_words + list_words<schema::Operation>(operations.size());
  for (const Operation& operation : operations) words += operation_words(operation);
  if (operations.size() > operations_per_frame_max || words * word_bytes > frame_bytes_max) {
    return Error{ErrorCode::frame_invalid, "a frame of " + std::to_string(operations.size()) +
                                               " operations and " + std::to_string(words * word_bytes) +
                                               " bytes; at most " + std::to_string(operations_per_frame_max) +
                                               " and " + std::to_string(frame_bytes_max) + " may be sent"};
  }
  try {
    return Blob::make_on_heap(words * word_bytes, [&](std::byte* bytes) {
      std::memset(bytes, 0, words * word_bytes);  // Cap'n Proto writes only what is not zero.
      const std::uint32_t table[2] = {0, static_cast<std::uint32_t>(words - 1)};
      std::memcpy(bytes, table, sizeof table);
      capnp::FlatMessageBuilder builder(kj::arrayPtr(reinterpret_cast<capnp::word*>(bytes) + 1, words - 1));
      auto root = builder.initRoot<schema::Envelope>();
      write_header(root, version, header);
      if (!operations.empty()) {
        auto list = root.initOperations(static_cast<unsigned>(operations.size()));
        for (unsigned i = 0; i < list.size(); ++i) write_operation(list[i], operations[i], codes);
      }
      builder.requireFilled();
    });
  } catch (const Invalid& why) {
    return Error{ErrorCode::frame_invalid, why.what, {}};
  } catch (const kj::Exception& exception) {
    // We weighed before we wrote, so the buffer is never too small or too large.
    throw Bug(std::string("libdag bug: a frame was weighed wrongly: ") + exception.getDescription().cStr());
  }
}

Result<Envelope> decode(std::span<const std::byte> frame, std::size_t frame_bytes_max, const CodeMap& codes) {
  if (frame.size() > frame_bytes_max) {
    return invalid("a frame of " + std::to_string(frame.size()) + " bytes; at most " +
                   std::to_string(frame_bytes_max) + " are taken");
  }
  if (!has_words(frame)) return invalid("a frame of " + std::to_string(frame.size()) + " bytes was cut off");
  Blob aligned;
  const auto segment = segment_of(frame, aligned);
  if (segment.size() == 0) return invalid("a frame is not as long as it says");
  try {
    const kj::ArrayPtr<const capnp::word> segments[] = {segment};
    capnp::SegmentArrayMessageReader reader(segments, limits_of(segment));
    return read_envelope(reader.getRoot<schema::Envelope>(), frame.size(), codes);
  } catch (const kj::Exception& exception) {
    return invalid(std::string("a corrupt frame: ") + exception.getDescription().cStr());
  } catch (const Invalid& why) {
    return invalid(why.what);
  }
}

std::optional<Heading> decode_heading(std::span<const std::byte> frame) {
  if (!has_words(frame)) return std::nullopt;
  Blob aligned;
  const auto segment = segment_of(frame, aligned);
  if (segment.size() == 0) return std::nullopt;
  std::optional<Heading> heading;
  try {
    const kj::ArrayPtr<const capnp::word> segments[] = {segment};
    capnp::SegmentArrayMessageReader reader(segments, limits_of(segment));
    const auto root = reader.getRoot<schema::Envelope>();
    heading = Heading{read_header(root)};
    heading->operations = std::clamp<std::size_t>(root.getOperations().size(), 1, operations_per_frame_max);
  } catch (const kj::Exception&) {
    // The heading read so far is returned.
  }
  return heading;
}

}  // namespace dag::wire
