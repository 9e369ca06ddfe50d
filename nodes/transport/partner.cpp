#include "nodes/transport/partner.hpp"

#include <algorithm>
#include <cstring>

#include "libdag/base/overloaded.hpp"

namespace dag::transport {
namespace {

using net::Channel;

/// Messages to copies of a log are sent in order, and those out of order are repeated
/// (consensus/replication.cpp): so all go by one link that can take them.
std::size_t control_bytes_max(const wire::Operation& operation) {
  return std::holds_alternative<consensus::Addressed>(operation) ? link::LinkOptions{}.operation_bytes_max
                                                                 : control_operation_bytes_max;
}

/// In place of each operation of a frame whose operations cannot be read, so that credit is given back as it
/// was taken. Nothing that decode has taken is of that conversation.
constexpr wire::Unknown unreadable{};
bool is_unreadable(const wire::Operation& operation) {
  const auto* unknown = std::get_if<wire::Unknown>(&operation);
  return unknown != nullptr && *unknown == unreadable;
}

constexpr std::string_view client_names[] = {
    "AskHandle", "AskSubmit", "AskNodes",   "AskJobs",     "AskEnd",     "AskCancel", "AskShutdown",
    "Answer",    "Want",      "ForgetJob",  "TaskSettled", "JobEnded",   "JobLost",   "AskFollow",
    "JobMoved",  "AskDrain",  "AskExplain", "AskJournal",  "AskOutputs", "AskRetry"};
static_assert(std::size(client_names) == std::variant_size_v<ClientMessage>);
constexpr std::string_view keeper_names[] = {
    "StartWorker",  "StopWorkers", "WorkerUp",  "WorkerDown", "WorkerRefused", "WantProgram",
    "ProgramBytes", "Begin",       "JobsGiven", "SaveCopy",   "KeepProgram",   "HaveProgram",
    "Unheard",      "StopWorker",  "Explain",   "Explained",  "AnotherLeads"};
static_assert(std::size(keeper_names) == std::variant_size_v<KeeperMessage>);

/// For people.
/// The output that the message carries, if it is of a kind that does.
Blob* output_in(wire::Operation& operation) {
  if (auto* of_job = std::get_if<JobMessage>(&operation)) {
    auto* data = std::get_if<message::Data>(of_job);
    return data == nullptr ? nullptr : &data->bytes;
  }
  if (auto* of_client = std::get_if<ClientMessage>(&operation)) {
    auto* settled = std::get_if<client::TaskSettled>(of_client);
    return settled == nullptr ? nullptr : &settled->output;
  }
  return nullptr;
}

std::string kind_of(const wire::Operation& operation) {
  return std::visit(
      Overloaded{[](const JobMessage& message) {
                   return std::string(name(message)) + " of " + to_string(job_of(message));
                 },
                 [](const wire::JobNote& note) { return "a note of " + to_string(note.job); },
                 [](const ClientMessage& message) { return std::string(client_names[message.index()]); },
                 [](const KeeperMessage& message) { return std::string(keeper_names[message.index()]); },
                 [](const consensus::Addressed&) -> std::string { return "a message of a record's copy"; },
                 [](const auto&) -> std::string { return "a message of the transport"; }},
      operation);
}

Error unwritable(Life to, const wire::Operation& operation, const Error& why) {
  const std::size_t size = wire::size_bytes(operation);
  return {ErrorCode::frame_invalid,
          kind_of(operation) + ", " + std::to_string(size) + " bytes, cannot be sent to " + to_string(to) +
              ": " + why.what,
          size > message_bytes_max ? "no message has more than 512 MiB: cut what it carries into parts"
                                   : why.hint};
}

Error not_understood(Life from, const std::string& what, const Error& why) {
  return {ErrorCode::frame_invalid, what + " of " + to_string(from) + " cannot be read: " + why.what,
          "is the same release of libdag installed on all hosts? Then this is a bug of libdag"};
}

}  // namespace

Result<Blob> encode(const FrameOut& out, std::uint16_t version, std::size_t frame_bytes_max,
                    const wire::CodeMap& codes, std::vector<Error>& broken) {
  const std::span<const wire::Operation> operations =
      out.batch ? std::span<const wire::Operation>(out.batch->operations)
                : std::span<const wire::Operation>{};
  Result<Blob> whole = wire::encode(version, out.header, operations, frame_bytes_max, codes);
  if (whole || operations.empty()) return whole;
  std::vector<wire::Operation> instead;
  for (const wire::Operation& operation : operations) {
    const Result<Blob> alone = wire::encode(version, out.header, {&operation, 1}, frame_bytes_max, codes);
    instead.push_back(alone ? operation : wire::Unimplemented{});
    if (!alone) broken.push_back(unwritable(out.header.to, operation, alone.error()));
  }
  return wire::encode(version, out.header, instead, frame_bytes_max, codes);
}

Partner::Partner(const link::LinkEnds& ends, std::uint16_t version, const wire::CodeMap& codes,
                 std::size_t encoded_bytes_max)
    : ends_(ends),
      version_(version),
      codes_(codes),
      encoded_bytes_max_(encoded_bytes_max),
      control_(ends, {}),
      bulk_(ends, link::bulk_link_options()) {}

void Partner::send(wire::Operation operation, Instant now, PartnerNews& news) {
  if (waiting() >= waiting_max) {
    news.give_up = "it takes nothing";
    return;
  }
  if (wire::size_bytes(operation) > control_bytes_max(operation)) {
    const auto* message = std::get_if<JobMessage>(&operation);
    const auto* data = message == nullptr ? nullptr : std::get_if<message::Data>(message);
    if (data != nullptr && !data_under_way_.emplace(data->job, data->name).second) return;
    large_.push_back(std::move(operation));
    fill_bulk(now, news);
  } else {
    control_.waiting.push_back(std::move(operation));
    fill_control(now, news);
  }
}

void Partner::fill_control(Instant now, PartnerNews& news) {
  Machine::Effects effects;
  while (room_control_ && !control_.waiting.empty()) {
    const std::size_t size = wire::size_bytes(control_.waiting.front());
    const link::Offer answer = control_.link.offer(std::move(control_.waiting.front()), size, now, effects);
    room_control_ = answer == link::Offer::taken;
    if (answer != link::Offer::refused) control_.waiting.pop_front();
  }
  carry_out(Channel::control, std::move(effects), news);
}

void Partner::fill_bulk(Instant now, PartnerNews& news) {
  Machine::Effects effects;
  while (room_bulk_ && (outgoing_ || !large_.empty())) {
    if (!outgoing_) {
      // A frame like any other, but for its size; what it claims to be is looked at when it is whole again.
      link::FrameHeader header;
      header.cluster = ends_.cluster;
      header.from = ends_.self;
      header.to = ends_.peer;
      Blob output;
      if (wire::size_bytes(large_.front()) + wire::frame_overhead_bytes > encoded_bytes_max_) {
        if (Blob* const carried = output_in(large_.front())) output = std::exchange(*carried, {});
      }
      const Result<Blob> encoded =
          wire::encode(version_, header, {&large_.front(), 1}, message_bytes_max, codes_);
      if (!encoded) news.broken.push_back(unwritable(life(), large_.front(), encoded.error()));
      large_.pop_front();
      if (!encoded) continue;
      outgoing_ = Outgoing{++last_number_, *encoded, std::move(output), 0};
    }
    // A piece is of one of the two.
    const std::size_t encoded_bytes = outgoing_->bytes.size_bytes();
    const std::size_t total_bytes = encoded_bytes + outgoing_->output.size_bytes();
    const auto left = outgoing_->sent < encoded_bytes
                          ? outgoing_->bytes.bytes().subspan(outgoing_->sent)
                          : outgoing_->output.bytes().subspan(outgoing_->sent - encoded_bytes);
    const std::size_t size = std::min(limits::bulk_chunk_bytes, left.size());
    wire::Operation piece = wire::Piece{outgoing_->number, total_bytes, outgoing_->sent,
                                        Blob(left.first(size)), outgoing_->output.size_bytes()};
    const std::size_t weight = wire::size_bytes(piece);
    const link::Offer answer = bulk_.link.offer(std::move(piece), weight, now, effects);
    room_bulk_ = answer == link::Offer::taken;
    if (answer == link::Offer::refused) break;
    outgoing_->sent += size;
    if (outgoing_->sent == total_bytes) outgoing_.reset();
  }
  carry_out(Channel::bulk, std::move(effects), news);
  if (!outgoing_ && large_.empty() && bulk_.link.frames_in_flight() == 0 &&
      bulk_.link.queued_operations() == 0) {
    data_under_way_.clear();
  }
}

void Partner::on_frame(Channel channel, wire::Envelope envelope, Instant now, PartnerNews& news) {
  Machine::Effects effects;
  lane(channel).link.on_frame(envelope.header, std::move(envelope.operations), now, effects);
  carry_out(channel, std::move(effects), news);
  fill_control(now, news);
  fill_bulk(now, news);
}

void Partner::on_unreadable(Channel channel, const wire::Heading& heading, Error why, Instant now,
                            PartnerNews& news) {
  lane(channel).unreadable = std::move(why);
  wire::Envelope envelope;
  envelope.header = heading.header;
  envelope.operations.assign(heading.operations, unreadable);
  on_frame(channel, std::move(envelope), now, news);
}

void Partner::on_refused(Channel channel, const std::string& why, PartnerNews& news) {
  // The peer goes on sending. One report is enough.
  if (++lane(channel).refusals != refusals_max) return;
  news.give_up = "none of its last " + std::to_string(refusals_max) + " frames could be taken";
  news.broken.push_back(not_understood(life(), "each frame", {ErrorCode::frame_invalid, why}));
}

void Partner::handled(Channel channel, std::uint64_t count, std::uint64_t charge_bytes, PartnerNews& news) {
  Machine::Effects effects;
  lane(channel).link.on_handled(count, charge_bytes, effects);
  carry_out(channel, std::move(effects), news);
}

void Partner::on_connected(Channel channel, Instant now, PartnerNews& news) {
  Machine::Effects effects;
  lane(channel).link.on_carrier_restored(now, effects);
  carry_out(channel, std::move(effects), news);
}

void Partner::on_tick(Instant now, PartnerNews& news) {
  for (const Channel channel : {Channel::control, Channel::bulk}) {
    Machine::Effects effects;
    lane(channel).link.on_tick(now, effects);
    carry_out(channel, std::move(effects), news);
  }
  fill_control(now, news);
  fill_bulk(now, news);
}

std::optional<Instant> Partner::due() const {
  const auto control = control_.link.due();
  const auto bulk = bulk_.link.due();
  if (!control || !bulk) return control ? control : bulk;
  return std::min(*control, *bulk);
}

void Partner::carry_out(Channel channel, Machine::Effects&& effects, PartnerNews& news) {
  for (auto& effect : effects) {
    if (auto* frame = std::get_if<link::Send<wire::Operation>>(&effect)) {
      news.frames.push_back({channel, frame->header, std::move(frame->batch)});
    } else if (auto* deliver = std::get_if<link::Deliver<wire::Operation>>(&effect)) {
      Delivered delivered{channel, {}, deliver->operations.size(), deliver->charge_bytes};
      lane(channel).refusals = 0;
      if (!deliver->operations.empty() && is_unreadable(deliver->operations.front())) {
        news.broken.push_back(not_understood(life(), "a frame", *lane(channel).unreadable));
        deliver->operations.clear();
      }
      for (wire::Operation& operation : deliver->operations) {
        if (auto* piece = std::get_if<wire::Piece>(&operation)) {
          if (auto whole = assemble(std::move(*piece), news))
            delivered.operations.push_back(std::move(*whole));
        } else {
          delivered.operations.push_back(std::move(operation));
        }
      }
      news.delivered.push_back(std::move(delivered));
    } else if (std::holds_alternative<link::RoomAgain>(effect)) {
      (channel == Channel::control ? room_control_ : room_bulk_) = true;
    } else if (std::holds_alternative<link::PeerAway>(effect) ||
               std::holds_alternative<link::PeerBack>(effect)) {
      // Bulk may be held up by what is large before it.
      if (channel == Channel::control) news.heard = std::holds_alternative<link::PeerBack>(effect);
    } else if (const auto* refused = std::get_if<link::FrameRefused>(&effect)) {
      if (refused->why >= link::Refusal::malformed) {
        news.complaints.push_back("a frame of " + to_string(refused->from) +
                                  " was refused: " + std::string(link::name(refused->why)));
        on_refused(channel, std::string(link::name(refused->why)), news);
      }
    }
  }
}

std::optional<wire::Operation> Partner::assemble(wire::Piece piece, PartnerNews& news) {
  const auto refuse = [&](const std::string& why) {
    news.broken.push_back(not_understood(life(), "a large message", {ErrorCode::frame_invalid, why}));
    incoming_.reset();
    refused_number_ = piece.number;
    return std::nullopt;
  };
  if (piece.number == refused_number_) return std::nullopt;
  if (piece.offset == 0) incoming_ = Incoming{piece.number, piece.total_bytes, piece.output_bytes, 0, {}};
  // The link delivers in order and once, so anything else is a peer that breaks the protocol.
  if (!incoming_ || incoming_->number != piece.number || incoming_->total_bytes != piece.total_bytes ||
      incoming_->output_bytes != piece.output_bytes || incoming_->have_bytes != piece.offset) {
    return refuse("a piece out of order");
  }
  if (piece.output_bytes > output_bytes_max || piece.output_bytes > piece.total_bytes ||
      piece.total_bytes - piece.output_bytes > message_bytes_max || !piece.bytes ||
      piece.bytes.size_bytes() > piece.total_bytes - piece.offset) {
    return refuse("its pieces are larger than it");
  }
  incoming_->have_bytes += piece.bytes.size_bytes();
  incoming_->pieces.push_back(std::move(piece.bytes));
  if (incoming_->have_bytes < incoming_->total_bytes) return std::nullopt;
  Incoming whole = std::move(*incoming_);
  incoming_.reset();
  auto next = whole.pieces.begin();
  bool fits = true;  // Where the encoded bytes end, a piece does.
  const auto join = [&](std::uint64_t size_bytes) {
    return Blob::make_on_heap(size_bytes, [&](std::byte* to) {
      for (std::uint64_t left = size_bytes; left > 0; ++next) {
        fits = fits && next != whole.pieces.end() && next->size_bytes() <= left && next->size_bytes() > 0;
        if (!fits) return;
        std::memcpy(to, next->bytes().data(), next->size_bytes());
        to += next->size_bytes();
        left -= next->size_bytes();
        *next = {};
      }
    });
  };
  const Blob bytes = join(whole.total_bytes - whole.output_bytes);
  if (!fits) return refuse("a piece lies across the end of what is encoded");
  Result<wire::Envelope> envelope = wire::decode(bytes.bytes(), message_bytes_max, codes_);
  if (!envelope) return refuse(envelope.error().what);
  if (envelope->operations.size() != 1 || std::holds_alternative<wire::Piece>(envelope->operations[0])) {
    return refuse("it is not one message");
  }
  if (whole.output_bytes > 0) {
    Blob* const carried = output_in(envelope->operations[0]);
    if (carried == nullptr || *carried) return refuse("it has no output that could have been left out");
    *carried = join(whole.output_bytes);
    if (!fits) return refuse("its pieces are not as long as it");
  }
  return std::move(envelope->operations[0]);
}

}  // namespace dag::transport
