#include "tools/sim/actors/sim_transport.hpp"

#include "libdag/host/host.hpp"
#include "libdag/wire/envelope.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {
namespace {

constexpr std::size_t frame_bytes_max = std::size_t{1} << 29;  // Larger messages go in pieces.

Blob as_bytes(wire::Operation operation) {
  wire::Envelope envelope;
  envelope.operations.push_back(std::move(operation));
  auto frame = wire::encode(envelope, frame_bytes_max);
  if (!frame) throw Violation("a message cannot be sent: " + frame.error().what);
  return *std::move(frame);
}

}  // namespace

SimTransport::SimTransport(Network& network, Life self, std::string address,
                           std::unique_ptr<TransportEvents> events, bool remarks)
    : network_(network),
      self_(self),
      endpoint_{address, address},
      events_(std::move(events)),
      remarks_(remarks) {
  network_.join(self_, std::move(address), *this);
}

void SimTransport::close() {
  if (!std::exchange(closed_, true)) network_.leave(self_);
}

void SimTransport::send(Life to, wire::Operation operation) {
  if (closed_ || dead_.contains(to)) return;
  Blob frame = as_bytes(std::move(operation));
  if (known_.contains(to)) {
    network_.send(self_, to, std::move(frame));
  } else {
    waiting_[to].push_back(std::move(frame));
  }
}

void SimTransport::send(Life to, std::vector<EdgeNews>&& news) {
  for (EdgeNews& one : news) send(to, JobMessage(as_message(std::move(one), 0)));
}

void SimTransport::send(const SendMembership& message) {
  if (closed_) return;
  const std::optional<Life> there = network_.who_listens(message.address);
  if (!there || (message.to && message.to != there) || *there == self_) return;
  network_.send_loose(self_, *there, as_bytes(message.message));
}

bool SimTransport::connect(const std::string& address) {
  const std::optional<Life> there = network_.who_listens(address);
  if (!there) return false;
  know(*there);
  link::Hello hello;
  hello.versions = link::versions_spoken;
  hello.from = self_;
  hello.build = "sim";
  hello.control_address = hello.bulk_address = endpoint_.control;
  network_.send(self_, *there, as_bytes(wire::Handshake(hello)));
  return true;
}

void SimTransport::know(Life life) {
  if (dead_.contains(life) || !known_.insert(life).second) return;
  if (auto waiting = waiting_.extract(life)) {
    for (Blob& frame : waiting.mapped()) network_.send(self_, life, std::move(frame));
  }
}

void SimTransport::member_up(Life life, const Endpoint&) { know(life); }

void SimTransport::member_down(Life life) {
  dead_.insert(life);
  known_.erase(life);
  waiting_.erase(life);
  events_->life_over(life);
}

void SimTransport::forget(Life life) {
  member_down(life);
  if (is_client(life.process)) dead_.erase(life);
}

void SimTransport::disconnected(Life life) {
  if (!dead_.contains(life)) events_->disconnected(life);
}

void SimTransport::refused(Life life) {
  if (!dead_.contains(life)) events_->refused(life);
}

void SimTransport::heard(Life life, bool heard) {
  if (!closed_ && !dead_.contains(life)) events_->heard(life, heard);
}

void SimTransport::arrived(Life from, const std::string& address, const Blob& frame) {
  if (closed_) return;
  know(from);
  auto envelope = wire::decode(frame.bytes(), frame_bytes_max);
  if (!envelope) throw Violation("a message is refused: " + envelope.error().what);
  for (wire::Operation& operation : envelope->operations) {
    // Membership tells the dead that they are.
    if (!dead_.contains(from) || std::holds_alternative<MembershipMessage>(operation))
      hand_on(from, address, operation);
  }
}

void SimTransport::remark(Life from, const JobMessage& message) const {
  if (!remarks_) return;
  std::string line = to_string(from) + " -> " + to_string(self_) + " " + std::string(name(message)) + " of " +
                     to_string(job_of(message));
  if (const auto named = shard_epoch_of(message))
    line += " shard " + std::to_string(named->shard) + " epoch " + to_string(named->epoch);
  events_->remark(line);
}

void SimTransport::hand_on(Life from, const std::string& address, wire::Operation& operation) {
  if (auto* message = std::get_if<JobMessage>(&operation)) {
    remark(from, *message);
    auto* ended = std::get_if<message::PredecessorEnded>(message);
    if (auto news = ended != nullptr && events_->has_lanes() ? told_by_lane(*ended) : std::nullopt) {
      std::vector<EdgeNews> edges;
      edges.push_back(*std::move(news));
      return events_->edges(from, std::move(edges));
    }
    std::vector<JobMessage> messages;
    messages.push_back(std::move(*message));
    events_->arrived(from, std::move(messages), [] {});
  } else if (auto* membership = std::get_if<MembershipMessage>(&operation)) {
    events_->membership(from, std::move(*membership));
  } else if (auto* client = std::get_if<ClientMessage>(&operation)) {
    events_->client(from, std::move(*client));
  } else if (auto* keeper = std::get_if<KeeperMessage>(&operation)) {
    events_->keeper(from, std::move(*keeper));
  } else if (auto* copy = std::get_if<consensus::Addressed>(&operation)) {
    events_->copy(from, std::move(*copy));
  } else if (std::holds_alternative<wire::Handshake>(operation)) {
    events_->greeted(from, {address, address}, "sim");
  }
}

}  // namespace dag::sim
