#include "nodes/transport/driver.hpp"

#include <algorithm>
#include <bit>

#include "actors/lanes/shared_outputs.hpp"
#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"
#include "libdag/host/host.hpp"
#include "nodes/machine/clock.hpp"

namespace dag::transport {
namespace {

using net::Channel;

constexpr Duration hello_every = std::chrono::milliseconds(200);
/// Until it speaks, a client that was welcomed has a place for so long.
constexpr Duration client_speaks_within = std::chrono::seconds(2);
/// Limits of callers that have only said Hello, in all and from one address.
constexpr std::size_t strangers_max = 2048, strangers_of_host_max = 1024;
/// The handler of a refusal may end this process: the refusal must leave first, or the caller waits for an
/// answer in vain.
constexpr Duration refusal_leaves_within = std::chrono::milliseconds(500);
/// Operations that wait for a peer while notes are sent to it.
constexpr std::size_t waiting_with_notes_max = 256;

std::size_t frame_bytes_max(Channel channel) {
  return channel == Channel::control ? limits::control_frame_bytes_max : wire::bulk_frame_bytes_max;
}

}  // namespace

Driver::Driver(TransportSetup setup, TransportEvents& events, std::unique_ptr<net::ZmqTransport> sockets)
    : setup_(std::move(setup)),
      events_(events),
      sockets_(std::move(sockets)),
      control_address_(net::to_string(sockets_->control_address())),
      bulk_address_(net::to_string(sockets_->bulk_address())),
      rings_(setup_.doorbell, events_,
             [this](Life to, RingMessage message) { send(to, wire::Operation(std::move(message))); }),
      hand_overs_(
          sockets_->control_address().host,
          [this](Life to, RingMessage message) { send(to, wire::Operation(std::move(message))); },
          [this](Life owner, std::uint64_t number) { return given_back_later(owner, number); },
          [this](Life owner, std::uint64_t number, std::optional<Blob> bytes) {
            streamed_later(owner, number, std::move(bytes));
          }) {}

// ---- One turn

void Driver::turn(Duration limit) {
  const Instant now = steady_now();
  for (net::TransportEvent& event : sockets_->poll(std::max(next_due(now, limit) - now, Duration{0}))) {
    if (auto* frame = std::get_if<net::FrameArrived>(&event)) {
      on_frame(std::move(*frame));
    } else if (const auto* up = std::get_if<net::PeerConnected>(&event)) {
      on_change(up->peer, up->channel, true, false);
    } else if (const auto* down = std::get_if<net::PeerDisconnected>(&event)) {
      on_change(down->peer, down->channel, false, false);
    } else if (const auto* refused = std::get_if<net::PeerRefused>(&event)) {
      on_change(refused->peer, refused->channel, false, true);
    }
  }
  rings_.look();
  const Instant later = steady_now();
  for (auto& [address, peer] : peers_) {
    if (peer.hello_at && *peer.hello_at <= later) say_hello(peer);
  }
  while (!turned_away_.empty() && turned_away_.front().tell_at <= later) {
    const TurnedAway caller = std::move(turned_away_.front());
    turned_away_.pop_front();
    events_.turned_away(caller.who, caller.why);
  }
  std::vector<Life> due;
  for (const auto& [life, partner] : partners_) {
    if (const auto at = partner.due(); at && *at <= later) due.push_back(life);
  }
  for (const Life life : due) {
    Partner* partner = partner_of(life);
    if (partner == nullptr) continue;
    PartnerNews news;
    partner->on_tick(later, news);
    carry_out(*partner, std::move(news));
  }
  if (checks_itself) check_invariants();
}

Instant Driver::next_due(Instant now, Duration limit) const {
  Instant due = now + limit;
  for (const auto& [address, peer] : peers_) {
    if (peer.hello_at) due = std::min(due, *peer.hello_at);
  }
  if (!turned_away_.empty()) due = std::min(due, turned_away_.front().tell_at);
  for (const auto& [life, partner] : partners_) {
    if (const auto at = partner.due()) due = std::min(due, *at);
  }
  // A poll rounds up to a millisecond; a batch that is due in microseconds is worth a few turns instead.
  return due - now < std::chrono::microseconds(50) ? now : due;
}

// ---- Finding each other

Driver::Peer& Driver::peer_at(const std::string& address) {
  const auto [at, fresh] = peers_.try_emplace(address);
  Peer& peer = at->second;
  if (!fresh) return peer;
  const auto parsed = net::parse_address(address);
  const auto handle = parsed ? sockets_->connect(*parsed) : Result<net::PeerHandle>(parsed.error());
  if (handle) {
    peer.handle = *handle;
  } else {
    complain("an address", handle.error().what);
    peer.unwelcome = true;
  }
  return peer;
}

link::Hello Driver::self_as_hello() const {
  return {setup_.cluster, link::versions_spoken, setup_.self, setup_.build, control_address_, bulk_address_};
}

Blob Driver::loose_frame(Life to, wire::Operation operation) const {
  link::FrameHeader header;
  header.cluster = setup_.cluster;
  header.from = setup_.self;
  header.to = to;
  const Result<Blob> frame = wire::encode(link::versions_spoken.max, header, {&operation, 1});
  DAG_CHECK(frame);
  return *frame;
}

void Driver::say_hello(Peer& peer) {
  peer.hello_at.reset();
  if (peer.welcomed || peer.unwelcome) return;
  if (sockets_->send(peer.handle, Channel::control, loose_frame({}, wire::Handshake{self_as_hello()})) ==
      net::Sent::sent) {
    ++peer.hellos;
  }
  peer.hello_at = steady_now() + hello_every;
}

void Driver::on_change(net::PeerHandle handle, Channel channel, bool connected, bool refused) {
  auto* found = find(handle);
  if (found == nullptr) return;
  Peer& peer = found->second;
  if (connected) {
    if (channel == Channel::control) return say_hello(peer);
    if (Partner* partner = peer.life ? partner_of(*peer.life) : nullptr) {
      PartnerNews news;
      partner->on_connected(Channel::bulk, steady_now(), news);
      carry_out(*partner, std::move(news));
    }
    return;
  }
  if (channel == Channel::bulk) return;
  peer.welcomed = false;
  peer.hello_at.reset();  // Said when the connection stands again.
  if (!peer.life || dead_.contains(*peer.life)) return;
  refused ? events_.refused(*peer.life) : events_.disconnected(*peer.life);
}

std::pair<const std::string, Driver::Peer>* Driver::find(net::PeerHandle handle) {
  const auto found = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const auto& peer) { return peer.second.handle == handle; });
  return found == peers_.end() ? nullptr : &*found;
}

void Driver::on_hello(const net::FrameArrived& frame, const link::Hello& hello) {
  const auto* caller = std::get_if<net::CallerHandle>(&frame.from);
  if (caller == nullptr || frame.channel != Channel::control) return;
  if (setup_.cluster == ClusterId{}) return;  // We do not know yet where we belong; it will ask again.
  Result<link::Welcome> answer = link::answer(self_as_hello(), hello);
  if (answer && is_one_too_many(hello.from)) {
    const Error full = no_room_for_client(to_string(setup_.self.process), setup_.room);
    complain("a client waits to be served", full.what);
    static_cast<void>(
        sockets_->answer(*caller, Channel::control,
                         loose_frame(hello.from, wire::Handshake{link::refused(setup_.self, full)})));
    return;
  }
  wire::Operation operation;
  if (answer) {
    know(hello.from, hello.control_address, hello.bulk_address, false);
    if (!dead_.contains(hello.from)) callers_[hello.from][Channel::control] = *caller;
    came(hello.from, hello.control_address);
    events_.greeted(hello.from, {hello.control_address, hello.bulk_address}, hello.build);
    operation = wire::Handshake{*answer};
  } else {
    const Error& why = answer.error();
    operation = wire::Handshake{link::refused(setup_.self, why)};
    complain("a caller was turned away", why.what);
    if (turned_away_.size() < turned_away_max) {
      const bool ours = hello.cluster == setup_.cluster || hello.cluster == ClusterId{};
      turned_away_.push_back({{hello.from, ours}, why, steady_now() + refusal_leaves_within});
    }
  }
  // May be lost: Hello is repeated.
  static_cast<void>(
      sockets_->answer(*caller, Channel::control, loose_frame(hello.from, std::move(operation))));
}

bool Driver::is_one_too_many(Life caller) const {
  if (!is_client(caller.process) || known_.contains(caller)) return false;
  const Instant now = steady_now();
  const auto clients = std::count_if(known_.begin(), known_.end(), [&](const auto& one) {
    return is_client(one.first.process) &&
           (partners_.contains(one.first) || now - one.second.greeted < client_speaks_within);
  });
  return static_cast<std::uint64_t>(clients) >= setup_.room.clients;
}

void Driver::on_welcome(const std::string& address, Peer& peer, const link::Welcome& welcome) {
  if (setup_.cluster == ClusterId{}) {
    setup_.cluster = welcome.cluster;
    events_.joined(welcome.cluster);
  }
  if (welcome.cluster != setup_.cluster || welcome.version < link::versions_spoken.min ||
      welcome.version > link::versions_spoken.max) {
    return;
  }
  const bool first = !peer.welcomed;
  if (peer.life && *peer.life != welcome.from) {
    // Another process listens there now.
    if (!dead_.contains(*peer.life)) events_.refused(*peer.life);
  }
  peer.life = welcome.from;
  peer.version = welcome.version;
  peer.welcomed = true;
  peer.hello_at.reset();
  know(welcome.from, welcome.control_address, welcome.bulk_address, true);
  if (const auto bulk = net::parse_address(welcome.bulk_address)) {
    if (const Status set = sockets_->set_bulk_address(peer.handle, *bulk); !set)
      complain("an address", set.error().what);
  }
  while (!peer.waiting.empty()) {
    send_loose(peer, peer.waiting.front());
    peer.waiting.pop_front();
  }
  if (!first) return;
  if (peer.seed) {
    events_.welcomed(address, welcome.from, {welcome.control_address, welcome.bulk_address});
  }
  if (Partner* partner = partner_of(welcome.from)) {
    PartnerNews news;
    // Frames sent to the peer before it was welcome, on either channel, were lost.
    partner->on_connected(Channel::control, steady_now(), news);
    partner->on_connected(Channel::bulk, steady_now(), news);
    carry_out(*partner, std::move(news));
  }
}

void Driver::on_handshake(const net::FrameArrived& frame, const wire::Envelope& envelope) {
  for (const wire::Operation& operation : envelope.operations) {
    const auto* handshake = std::get_if<wire::Handshake>(&operation);
    if (handshake == nullptr) continue;
    if (const auto* hello = std::get_if<link::Hello>(handshake)) {
      on_hello(frame, *hello);
      continue;
    }
    const auto* answered = std::get_if<net::PeerHandle>(&frame.from);
    auto* found = answered == nullptr ? nullptr : find(*answered);
    if (found == nullptr || found->second.hellos == 0) continue;  // Nobody asked.
    if (const auto* welcome = std::get_if<link::Welcome>(handshake)) {
      on_welcome(found->first, found->second, *welcome);
    } else {
      const Error why = link::error_of(std::get<link::HelloRefused>(*handshake));
      found->second.unwelcome = why.code != ErrorCode::limit_reached;
      events_.unwelcome(found->first, why);
    }
  }
}

// ---- Frames

void Driver::on_frame(net::FrameArrived frame) {
  Result<wire::Envelope> decoded =
      wire::decode(frame.bytes.bytes(), frame_bytes_max(frame.channel), *setup_.codes);
  if (!decoded) return on_unreadable(frame, decoded.error());
  wire::Envelope& envelope = *decoded;
  if (wire::is_loose(envelope) && std::holds_alternative<wire::Handshake>(envelope.operations.front())) {
    return on_handshake(frame, envelope);
  }
  const Life from = envelope.header.from;
  if (setup_.cluster == ClusterId{} || envelope.header.cluster != setup_.cluster || !known_.contains(from)) {
    if (!is_for_another(envelope.header))
      complain("a frame was refused", "its sender " + to_string(from) + " was not welcomed here");
    return;
  }
  if (const auto* caller = std::get_if<net::CallerHandle>(&frame.from);
      caller != nullptr && !dead_.contains(from))
    callers_[from][frame.channel] = *caller;
  if (wire::is_loose(envelope)) {
    if (envelope.header.to != Life{} && envelope.header.to != setup_.self) return;
    for (wire::Operation& operation : envelope.operations) {
      if (auto* message = std::get_if<MembershipMessage>(&operation)) {
        events_.membership(from, std::move(*message));
      }
    }
    return;
  }
  if (dead_.contains(from)) return;  // Membership tells it.
  Partner& partner = begin_partner(from);
  PartnerNews news;
  partner.on_frame(frame.channel, std::move(envelope), steady_now(), news);
  carry_out(partner, std::move(news));
}

/// Its sender spoke to the process that listened at this address before, and will hear that this is another
/// one. Ports are used again, also by processes of other clusters.
bool Driver::is_for_another(const link::FrameHeader& header) const {
  return header.to != Life{} && (header.to != setup_.self || header.cluster != setup_.cluster);
}

/// The connection tells the sender of an unreadable frame: its content may claim anything.
void Driver::on_unreadable(const net::FrameArrived& frame, const Error& why) {
  complain("a frame was refused", why.what);
  const std::optional<Life> from = speaker_of(frame);
  if (!from) return;
  Partner& partner = begin_partner(*from);
  PartnerNews news;
  const auto heading = wire::decode_heading(frame.bytes.bytes());
  if (!heading || heading->header.cluster != setup_.cluster || heading->header.from != *from) {
    partner.on_refused(frame.channel, why.what, news);
  } else if (heading->header.seq > 0) {  // Loose messages may be lost.
    partner.on_unreadable(frame.channel, *heading, why, steady_now(), news);
  }
  carry_out(partner, std::move(news));
}

std::optional<Life> Driver::speaker_of(const net::FrameArrived& frame) const {
  const auto* caller = std::get_if<net::CallerHandle>(&frame.from);
  if (caller == nullptr) return std::nullopt;
  for (const auto& [life, connections] : callers_) {
    const auto found = connections.find(frame.channel);
    if (found != connections.end() && found->second == *caller) return life;
  }
  return std::nullopt;
}

void Driver::refuse(Life life, const Error& why) {
  const auto caller = callers_.find(life);
  if (caller == callers_.end() || !caller->second.contains(Channel::control)) return;
  static_cast<void>(sockets_->answer(caller->second.at(Channel::control), Channel::control,
                                     loose_frame(life, wire::Handshake{link::refused(setup_.self, why)})));
}

void Driver::know(Life life, const std::string& control, const std::string& bulk, bool kept) {
  const auto [at, fresh] = known_.try_emplace(life);
  Known& known = at->second;
  known.greeted = steady_now();
  known.host = control.substr(0, control.rfind(':'));
  known.kept = known.kept || (kept && !dead_.contains(life));
  if (!dead_.contains(life)) endpoints_[life] = {control, bulk};
  if (fresh && !known.kept) forget_strangers(known.host);
}

bool Driver::is_stranger(Life life, const Known& known) const {
  return !known.kept && !partners_.contains(life);
}

/// The one that was greeted longest ago, if there are too many.
void Driver::forget_strangers(const std::string& host) {
  std::size_t all = 0, of_host = 0;
  auto oldest = known_.end(), oldest_of_host = known_.end();
  const auto older = [&](auto one, auto than) {
    return than == known_.end() || one->second.greeted < than->second.greeted;
  };
  for (auto one = known_.begin(); one != known_.end(); ++one) {
    if (!is_stranger(one->first, one->second)) continue;
    ++all;
    if (older(one, oldest)) oldest = one;
    if (one->second.host != host) continue;
    ++of_host;
    if (older(one, oldest_of_host)) oldest_of_host = one;
  }
  const auto goes = of_host > strangers_of_host_max ? oldest_of_host : oldest;
  if (of_host <= strangers_of_host_max && all <= strangers_max) return;
  const Life life = goes->first;
  known_.erase(goes);
  endpoints_.erase(life);
  callers_.erase(life);
}

/// Where another life was, the socket's tries are up to a second apart by now: for so long we could not speak
/// to this one, and if it died, too, it would not be missed by us.
void Driver::came(Life life, const std::string& address) {
  const auto found = peers_.find(address);
  if (found == peers_.end() || dead_.contains(life)) return;
  Peer& peer = found->second;
  if (peer.welcomed || peer.life == life) return;
  peer.life = life;
  const auto parsed = net::parse_address(address);
  const auto anew = parsed ? sockets_->connect(*parsed) : Result<net::PeerHandle>(parsed.error());
  if (!anew) return;
  sockets_->disconnect(std::exchange(peer.handle, *anew));
  peer.hello_at.reset();
  peer.unwelcome = false;
}

Partner& Driver::begin_partner(Life life) {
  return partners_
      .try_emplace(life, link::LinkEnds{setup_.cluster, setup_.self, life}, link::versions_spoken.max,
                   *setup_.codes)
      .first->second;
}

Partner* Driver::partner_of(Life life) {
  const auto found = partners_.find(life);
  return found == partners_.end() ? nullptr : &found->second;
}

void Driver::carry_out(Partner& partner, PartnerNews&& news) {
  const Life life = partner.life();
  const auto endpoint = endpoints_.find(life);
  if (!news.frames.empty() && endpoint != endpoints_.end()) {
    Peer& peer = peer_at(endpoint->second.control);
    for (const FrameOut& out : news.frames) {
      // Not connected, or connected to another process: lost, and the link will find out.
      if (!peer.welcomed || peer.life != life) break;
      const Result<Blob> frame =
          encode(out, peer.version, frame_bytes_max(out.channel), *setup_.codes, news.broken);
      if (!frame) {
        complain("a frame cannot be sent", frame.error().what);
        continue;
      }
      static_cast<void>(sockets_->send(peer.handle, out.channel, *frame));
    }
  }
  for (const std::string& complaint : news.complaints) complain("a peer", complaint);
  for (Delivered& delivered : news.delivered) hand_on(life, std::move(delivered));
  if (news.heard) events_.heard(life, *news.heard);
  for (const Error& why : news.broken) {
    complain("a message is lost", why.what);
    events_.broken(life, why);
  }
  if (!news.give_up.empty()) {
    complain("a peer", to_string(life) + " is given up: " + news.give_up);
    events_.disconnected(life);
    events_.refused(life);
  }
}

void Driver::hand_on(Life from, Delivered&& delivered) {
  std::vector<JobMessage> messages;
  std::vector<EdgeNews> edges;
  for (wire::Operation& operation : delivered.operations) {
    if (auto* message = std::get_if<JobMessage>(&operation)) {
      auto* ended = std::get_if<message::PredecessorEnded>(message);
      if (auto news = ended != nullptr && events_.has_lanes() ? told_by_lane(*ended) : std::nullopt) {
        edges.push_back(*std::move(news));
        continue;
      }
      auto* data = std::get_if<message::Data>(message);
      if (data == nullptr || hand_overs_.complete(from, *data)) messages.push_back(std::move(*message));
    } else if (auto* note = std::get_if<wire::JobNote>(&operation)) {
      events_.note(from, std::move(*note));
    } else if (auto* client = std::get_if<ClientMessage>(&operation)) {
      events_.client(from, std::move(*client));
    } else if (auto* keeper = std::get_if<KeeperMessage>(&operation)) {
      events_.keeper(from, std::move(*keeper));
    } else if (auto* ring = std::get_if<RingMessage>(&operation)) {
      on_ring_message(from, std::move(*ring));
    } else if (auto* copy = std::get_if<consensus::Addressed>(&operation)) {
      if (!events_.copy(from, std::move(*copy)))
        send(from, wire::Unimplemented{wire::conversation_of_replicas, wire::whole_conversation});
    } else if (const auto* unknown = std::get_if<wire::Unknown>(&operation)) {
      send(from, wire::unimplemented_answer(*unknown));
    } else if (const auto* unimplemented = std::get_if<wire::Unimplemented>(&operation)) {
      if (unimplemented->conversation == wire::conversation_of_rings) {
        rings_.on_message(from, ring::Closed{"its build knows no rings"});
        continue;
      }
      if (unimplemented->conversation == 0) continue;  // The peer's log has the message.
      complain("a peer", to_string(from) + " does not know operation " +
                             std::to_string(unimplemented->conversation) + "." +
                             std::to_string(unimplemented->message));
    }
  }
  if (messages.empty()) {
    handled(from, delivered.channel, delivered.count, delivered.charge_bytes);
  } else {
    events_.arrived(from, std::move(messages), handled_later(from, delivered));
  }
  // News that are not for lanes go the way of messages after all, behind those that came before.
  if (!edges.empty()) events_.edges(from, std::move(edges));
}

void Driver::on_ring_message(Life from, RingMessage&& message) {
  if (const auto* over = std::get_if<ring::HandOver>(&message)) {
    hand_overs_.on_over(from, *over);
  } else if (const auto* stream = std::get_if<ring::StreamOver>(&message)) {
    const auto endpoint = endpoints_.find(from);
    const auto at = endpoint == endpoints_.end() ? Result<net::Address>(Error{})
                                                 : net::parse_address(endpoint->second.control);
    hand_overs_.on_over(from, *stream, at ? at->host : "");
  } else if (const auto* back = std::get_if<ring::HandBack>(&message)) {
    if ((back->number & SharedOutputs::of_lanes) != 0) {
      events_.handed_back(from, back->number);
    } else if (auto data = hand_overs_.on_back(from, *back)) {
      send(from, wire::Operation(JobMessage(std::move(*data))));
    }
  } else {
    rings_.on_message(from, std::move(message));
  }
}

void Driver::give_back(Life owner, std::uint64_t number) {
  if ((number & SharedOutputs::of_lanes) == 0) return hand_overs_.give_back(owner, number);
  if (partner_of(owner) != nullptr) send(owner, wire::Operation(RingMessage(ring::HandBack{number, true})));
}

void Driver::streamed(Life owner, std::uint64_t number, std::optional<Blob> bytes) {
  std::optional<message::Data> data = hand_overs_.on_streamed(owner, number, std::move(bytes));
  if (!data) return;
  std::vector<JobMessage> messages;
  messages.emplace_back(std::move(*data));
  // The link's operation, the Data without its bytes, has been accounted for.
  events_.arrived(owner, std::move(messages), [] {});
}

void Driver::handled(Life from, Channel channel, std::uint64_t count, std::uint64_t charge_bytes) {
  Partner* partner = partner_of(from);
  if (partner == nullptr) return;
  PartnerNews news;
  partner->handled(channel, count, charge_bytes, news);
  carry_out(*partner, std::move(news));
}

// ---- Called by others on this thread

/// Sends also to a life that we do not know yet: others may have heard of it before us. The operation waits
/// in its link until we learn the life's address, or that it is dead.
void Driver::send(Life to, wire::Operation operation) {
  if (dead_.contains(to)) return;
  Partner& partner = begin_partner(to);
  PartnerNews news;
  partner.send(std::move(operation), steady_now(), news);
  carry_out(partner, std::move(news));
}

void Driver::send(Life to, JobMessage message) {
  auto* data = std::get_if<message::Data>(&message);
  if (data != nullptr && !dead_.contains(to) && !hand_overs_.hand_over(to, rings_.up(to), *data)) return;
  send(to, wire::Operation(std::move(message)));
}

void Driver::note(Life to, wire::JobNote note, std::uint64_t dropped) {
  if (dead_.contains(to)) return;
  std::uint64_t& count = notes_dropped_[to];
  count += dropped;
  using Kind = wire::JobNote::Kind;
  // The job's own notes on its tasks are few, and are not repeated.
  const bool of_kernel = note.kind == Kind::log || note.kind == Kind::progress;
  if (of_kernel && begin_partner(to).waiting() > waiting_with_notes_max) {
    ++count;
    return;
  }
  if (count > 0 && note.kind == Kind::log) {
    wire::JobNote gap = note;
    gap.text = "(" + std::to_string(std::exchange(count, 0)) +
               " lines of this job are left out here, since they came too fast; see `dag logs`)";
    send(to, wire::Operation(std::move(gap)));
  }
  send(to, wire::Operation(std::move(note)));
}

void Driver::connect(const std::string& address) { peer_at(address).seed = true; }

void Driver::send(SendMembership message) {
  Peer& peer = peer_at(message.address);
  if (!message.to) peer.seed = true;
  if (peer.welcomed) return send_loose(peer, message);
  if (peer.unwelcome) return;
  if (peer.waiting.size() == loose_waiting_max) peer.waiting.pop_front();
  peer.waiting.push_back(std::move(message));
}

void Driver::send_loose(Peer& peer, const SendMembership& message) {
  if (message.to && peer.life != message.to) return;
  static_cast<void>(sockets_->send(peer.handle, Channel::control,
                                   loose_frame(message.to.value_or(Life{}), message.message)));
}

void Driver::member_up(Life life, const Endpoint& endpoint) {
  if (dead_.contains(life)) return;
  endpoints_[life] = endpoint;
  if (const auto known = known_.find(life); known != known_.end()) known->second.kept = true;
  begin_partner(life);
  peer_at(endpoint.control);
  came(life, endpoint.control);
  if (may_be_on_this_host(endpoint)) rings_.begin(life);
}

/// The address decides only whether it is worth to ask; the offer says more (libdag/ring/offer.hpp).
bool Driver::may_be_on_this_host(const Endpoint& endpoint) const {
  const auto address = net::parse_address(endpoint.control);
  if (!address) return false;
  const net::Address& own = sockets_->control_address();
  return address->host == own.host || (net::is_loopback(*address) && net::is_loopback(own));
}

void Driver::member_down(Life life) {
  dead_.insert(life);
  // Still listened to, while there is room, so that it learns of its end.
  if (const auto known = known_.find(life); known != known_.end()) known->second.kept = false;
  end(life);
  const auto endpoint = endpoints_.find(life);
  if (endpoint == endpoints_.end()) return;
  const auto peer = peers_.find(endpoint->second.control);
  endpoints_.erase(endpoint);
  if (peer == peers_.end() || peer->second.life != life) return;
  // A kept peer still leads to that life, which must hear that it is over, if it was only out of reach.
  if (peer->second.seed) return;
  sockets_->disconnect(peer->second.handle);
  peers_.erase(peer);
}

void Driver::end(Life life) {
  rings_.end(life);
  hand_overs_.end(life);
  partners_.erase(life);
  notes_dropped_.erase(life);
  callers_.erase(life);
  events_.life_over(life);
}

void Driver::forget(Life life) {
  // Clients come and go in numbers, and nobody speaks to one that is gone.
  if (!is_client(life.process)) dead_.insert(life);
  end(life);
  known_.erase(life);
  const auto endpoint = endpoints_.find(life);
  if (endpoint == endpoints_.end()) return;
  const auto peer = peers_.find(endpoint->second.control);
  endpoints_.erase(endpoint);
  if (peer == peers_.end() || (peer->second.life && peer->second.life != life)) return;
  sockets_->disconnect(peer->second.handle);
  peers_.erase(peer);
}

bool Driver::quiet() const {
  return std::all_of(partners_.begin(), partners_.end(), [](const auto& one) { return one.second.quiet(); });
}

void Driver::complain(std::string_view about, const std::string& what) {
  auto found = complaints_.find(about);
  if (found == complaints_.end()) found = complaints_.emplace(std::string(about), 0).first;
  const std::uint64_t count = ++found->second;
  if (!std::has_single_bit(count)) return;
  events_.log(std::string(about) + ": " + what +
              (count > 1 ? " (" + std::to_string(count) + " times by now)" : ""));
}

}  // namespace dag::transport
