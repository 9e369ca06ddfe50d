#include "nodes/transport/hand_overs.hpp"

namespace dag::transport {

void HandOvers::hand_over(Life reader, message::Data& data) {
  const std::optional<ring::SharedBytes> where = arena::find(data.bytes);
  if (!where) return;
  Peer& peer = peers_[reader];
  if (peer.cannot_read) return;
  const std::uint64_t number = ++peer.last_number;
  send_(reader, ring::HandOver{number, *where});
  peer.handed[number] = data;
  data.handed = number;
  data.bytes = {};
}

std::optional<message::Data> HandOvers::on_back(Life reader, const ring::HandBack& back) {
  const auto peer = peers_.find(reader);
  if (peer == peers_.end()) return std::nullopt;
  auto handed = peer->second.handed.extract(back.number);
  if (!handed || back.read) return std::nullopt;
  peer->second.cannot_read = true;
  return std::move(handed.mapped());
}

void HandOvers::on_over(Life owner, const ring::HandOver& over) {
  Result<Blob> bytes = borrowed_.open(owner, over.where, returned_(owner, over.number));
  if (!bytes) return send_(owner, ring::HandBack{over.number, false});
  Peer& peer = peers_[owner];
  if (peer.announced.size() == announced_max) peer.announced.erase(peer.announced.begin());
  peer.announced[over.number] = std::move(*bytes);
}

bool HandOvers::complete(Life owner, message::Data& data) {
  if (data.handed == 0) return true;
  const auto peer = peers_.find(owner);
  if (peer == peers_.end()) return false;
  auto bytes = peer->second.announced.extract(std::exchange(data.handed, 0));
  if (!bytes) return false;
  data.bytes = std::move(bytes.mapped());
  return true;
}

void HandOvers::give_back(Life owner, std::uint64_t number) {
  if (peers_.contains(owner)) send_(owner, ring::HandBack{number, true});
}

void HandOvers::end(Life life) {
  borrowed_.forget(life);
  peers_.erase(life);
}

}  // namespace dag::transport
