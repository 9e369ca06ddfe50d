#include "nodes/transport/hand_overs.hpp"

#include "nodes/machine/draw_number.hpp"

namespace dag::transport {

// ---- As owner

bool HandOvers::hand_over(Life reader, bool maps_ours, message::Data& data) {
  Peer& peer = peers_[reader];
  const auto where = maps_ours && !peer.cannot_map ? arena::find(data.bytes) : std::nullopt;
  if (!where) return begin_stream(reader, peer, data);
  const std::uint64_t number = ++peer.last_number;
  send_(reader, ring::HandOver{number, *where});
  peer.handed[number] = {data, std::nullopt};
  data.handed = number;
  data.bytes = {};
  return true;
}

bool HandOvers::begin_stream(Life reader, Peer& peer, message::Data& data) {
  if (peer.cannot_fetch || data.bytes.size_bytes() < Blob::large_bytes_min) return true;
  if (peer.streaming.contains({data.job, data.name})) return false;
  const net::StreamToken token{draw_number(), ++peer.last_number};
  const std::optional<std::uint16_t> port = streams_.lend(token, data.bytes);
  if (!port) return true;
  send_(reader, ring::StreamOver{token.number, token.secret, *port, data.bytes.size_bytes()});
  peer.handed[token.number] = {data, token};
  peer.streaming.insert({data.job, data.name});
  data.handed = token.number;
  data.bytes = {};
  return true;
}

std::optional<message::Data> HandOvers::on_back(Life reader, const ring::HandBack& back) {
  const auto found = peers_.find(reader);
  if (found == peers_.end()) return std::nullopt;
  Peer& peer = found->second;
  auto handed = peer.handed.extract(back.number);
  if (!handed) return std::nullopt;
  Handed& was = handed.mapped();
  if (was.streamed) {
    streams_.take_back(*was.streamed);
    peer.streaming.erase({was.data.job, was.data.name});
  }
  if (back.read) return std::nullopt;
  (was.streamed ? peer.cannot_fetch : peer.cannot_map) = true;
  return std::move(was.data);
}

// ---- As reader

void HandOvers::announce(Peer& peer, std::uint64_t number, Blob bytes) {
  if (peer.announced.size() == announced_max) peer.announced.erase(peer.announced.begin());
  peer.announced[number] = std::move(bytes);
}

void HandOvers::on_over(Life owner, const ring::HandOver& over) {
  Result<Blob> bytes = borrowed_.open(owner, over.where, returned_(owner, over.number));
  if (!bytes) return send_(owner, ring::HandBack{over.number, false});
  announce(peers_[owner], over.number, std::move(*bytes));
}

void HandOvers::on_over(Life owner, const ring::StreamOver& over, const std::string& host) {
  Peer& peer = peers_[owner];
  if (host.empty() || over.port == 0 || peer.fetching.size() == announced_max) {
    return send_(owner, ring::HandBack{over.number, false});
  }
  peer.fetching[over.number] = std::nullopt;
  peer.streams_at = net::Address{host, over.port};
  streams_.fetch(*peer.streams_at, {over.secret, over.number}, over.size_bytes,
                 [streamed = streamed_, owner, number = over.number](std::optional<Blob> bytes) {
                   streamed(owner, number, std::move(bytes));
                 });
}

bool HandOvers::complete(Life owner, message::Data& data) {
  if (data.handed == 0) return true;
  const auto found = peers_.find(owner);
  if (found == peers_.end()) return false;
  Peer& peer = found->second;
  if (const auto fetch = peer.fetching.find(data.handed); fetch != peer.fetching.end()) {
    fetch->second = std::move(data);
    return false;
  }
  auto bytes = peer.announced.extract(std::exchange(data.handed, 0));
  if (!bytes) return false;
  data.bytes = std::move(bytes.mapped());
  return true;
}

std::optional<message::Data> HandOvers::on_streamed(Life owner, std::uint64_t number,
                                                    std::optional<Blob> bytes) {
  const auto found = peers_.find(owner);
  if (found == peers_.end()) return std::nullopt;
  auto fetch = found->second.fetching.extract(number);
  if (!fetch) return std::nullopt;
  send_(owner, ring::HandBack{number, bytes.has_value()});
  if (!bytes) return std::nullopt;
  if (!fetch.mapped()) {
    announce(found->second, number, std::move(*bytes));
    return std::nullopt;
  }
  fetch.mapped()->bytes = std::move(*bytes);
  fetch.mapped()->handed = 0;
  return std::move(*fetch.mapped());
}

void HandOvers::give_back(Life owner, std::uint64_t number) {
  if (peers_.contains(owner)) send_(owner, ring::HandBack{number, true});
}

void HandOvers::end(Life life) {
  borrowed_.forget(life);
  const auto peer = peers_.find(life);
  if (peer == peers_.end()) return;
  for (const auto& [number, handed] : peer->second.handed) {
    if (handed.streamed) streams_.take_back(*handed.streamed);
  }
  if (peer->second.streams_at) streams_.forget(*peer->second.streams_at);
  peers_.erase(peer);
}

}  // namespace dag::transport
