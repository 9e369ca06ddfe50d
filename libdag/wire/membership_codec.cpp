// schema/membership.capnp as values.

#include "libdag/wire/codec/claims.hpp"
#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

void write_device(schema::DeviceLoad::Builder to, const DeviceLoad& device) {
  if (!device.kind.empty()) to.setKind(as_text(device.kind));
  to.setLanes(device.lanes);
  to.setLanesFree(device.lanes_free);
  to.setMemoryBytes(device.memory_bytes);
  to.setMemoryFreeBytes(device.memory_free_bytes);
  to.setBacklog(device.backlog.count());
  to.setBusy(device.busy.count());
}

static_assert(static_cast<int>(MemberState::alive) == static_cast<int>(schema::Claim::State::ALIVE));
static_assert(static_cast<int>(MemberState::suspect) == static_cast<int>(schema::Claim::State::SUSPECT));
static_assert(static_cast<int>(MemberState::dead) == static_cast<int>(schema::Claim::State::DEAD));
static_assert(static_cast<int>(MemberState::left) == static_cast<int>(schema::Claim::State::LEFT));

}  // namespace

void write(schema::Claim::Builder to, const Claim& claim) {
  to.setLife(word_of(claim.life));
  to.setState(static_cast<schema::Claim::State>(claim.state));
  to.setBeat(claim.beat);
  if (!claim.endpoint.control.empty()) to.setControl(as_text(claim.endpoint.control));
  if (!claim.endpoint.bulk.empty()) to.setBulk(as_text(claim.endpoint.bulk));
  if (!claim.endpoint.web.empty()) to.setWeb(as_text(claim.endpoint.web));
  to.setTasksReady(claim.load.tasks_ready);
  to.setDisk(claim.load.disk);
  to.setDiskFull(claim.load.disk_full);
  to.setDiskStuck(claim.load.disk_stuck);
  to.setSick(claim.load.sick);
  to.setDraining(claim.load.draining);
  to.setWitness(claim.load.witness);
  if (claim.load.devices.empty()) return;
  auto devices = to.initDevices(static_cast<unsigned>(claim.load.devices.size()));
  for (unsigned i = 0; i < devices.size(); ++i) write_device(devices[i], claim.load.devices[i]);
}

Claim read(schema::Claim::Reader from) {
  Claim claim;
  claim.life = life_from(from.getLife());
  // A state this build does not know would be a new way to be gone, or not to be: neither may be guessed.
  if (from.getState() > schema::Claim::State::LEFT) throw Invalid{"Claim.state is none we know"};
  claim.state = static_cast<MemberState>(from.getState());
  claim.beat = from.getBeat();
  claim.endpoint.control = text_from(from.getControl(), address_bytes_max, "Claim.control");
  claim.endpoint.bulk = text_from(from.getBulk(), address_bytes_max, "Claim.bulk");
  claim.endpoint.web = text_from(from.getWeb(), address_bytes_max, "Claim.web");
  claim.load.tasks_ready = from.getTasksReady();
  claim.load.disk = from.getDisk();
  claim.load.disk_full = from.getDiskFull();
  claim.load.disk_stuck = from.getDiskStuck();
  claim.load.sick = from.getSick();
  claim.load.draining = from.getDraining();
  claim.load.witness = from.getWitness();
  const auto devices = from.getDevices();
  check_count(devices.size(), member_devices_max, "Claim.devices");
  claim.load.devices.reserve(devices.size());
  for (const auto reader : devices) {
    DeviceLoad device;
    device.kind = text_from(reader.getKind(), name_bytes_max, "DeviceLoad.kind");
    device.lanes = reader.getLanes();
    device.lanes_free = reader.getLanesFree();
    device.memory_bytes = reader.getMemoryBytes();
    device.memory_free_bytes = reader.getMemoryFreeBytes();
    device.backlog = Duration(reader.getBacklog());
    device.busy = Duration(reader.getBusy());
    claim.load.devices.push_back(std::move(device));
  }
  return claim;
}

template <class Message>
requires std::same_as<Message, membership::Join> || std::same_as<Message, membership::Welcome>
struct Below<Message> {  // A member of the union is written even when it is empty.
  static std::size_t words(const Message& message) {
    return written_text_words(message.address) + field_words(message.claims);
  }
};

std::size_t words(const MembershipMessage& message) {
  return words_of<schema::Membership> + std::visit([](const auto& one) { return field_words(one); }, message);
}

void write(schema::Membership::Builder to, const MembershipMessage& message) {
  std::visit(Overloaded{[&](const membership::Ping& ping) { to.setPing(ping.number); },
                        [&](const membership::Ack& ack) { to.setAck(ack.number); },
                        [&](const membership::PingRequest& request) {
                          auto builder = to.initPingRequest();
                          builder.setNumber(request.number);
                          builder.setTarget(word_of(request.target));
                        },
                        [&](const membership::Nack& nack) { to.setNack(nack.number); },
                        [&](const membership::Gossip&) { to.setGossip(); },
                        [&](const membership::Join& join) { to.setJoin(as_text(join.address)); },
                        [&](const membership::Welcome& welcome) { to.setWelcome(as_text(welcome.address)); },
                        [&](const membership::Obituary& obituary) {
                          auto builder = to.initObituary();
                          write(builder.initDeceased(), obituary.deceased);
                          builder.setMembersUp(obituary.members_up);
                        }},
             message);
  const auto& claims =
      std::visit([](const auto& any) -> const std::vector<Claim>& { return any.claims; }, message);
  if (claims.empty()) return;
  auto list = to.initClaims(static_cast<unsigned>(claims.size()));
  for (unsigned i = 0; i < list.size(); ++i) write(list[i], claims[i]);
}

std::optional<MembershipMessage> read(schema::Membership::Reader from, Reading&) {
  const auto list = from.getClaims();
  check_count(list.size(), members_max, "Membership.claims");
  std::vector<Claim> claims;
  claims.reserve(list.size());
  for (const auto claim : list) claims.push_back(read(claim));
  switch (from.which()) {
    case schema::Membership::PING:
      return membership::Ping{from.getPing(), std::move(claims)};
    case schema::Membership::ACK:
      return membership::Ack{from.getAck(), std::move(claims)};
    case schema::Membership::PING_REQUEST:
      return membership::PingRequest{from.getPingRequest().getNumber(),
                                     life_from(from.getPingRequest().getTarget()), std::move(claims)};
    case schema::Membership::NACK:
      return membership::Nack{from.getNack(), std::move(claims)};
    case schema::Membership::GOSSIP:
      return membership::Gossip{std::move(claims)};
    case schema::Membership::JOIN:
      return membership::Join{text_from(from.getJoin(), address_bytes_max, "Membership.join"),
                              std::move(claims)};
    case schema::Membership::WELCOME:
      return membership::Welcome{text_from(from.getWelcome(), address_bytes_max, "Membership.welcome"),
                                 std::move(claims)};
    case schema::Membership::OBITUARY:
      return membership::Obituary{read(from.getObituary().getDeceased()), from.getObituary().getMembersUp(),
                                  std::move(claims)};
  }
  return std::nullopt;
}

}  // namespace dag::wire
