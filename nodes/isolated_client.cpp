#include "nodes/isolated_client.hpp"

namespace dag {
namespace {

constexpr auto nodes_gather_within = std::chrono::seconds(30);

NodeOptions at(NodeOptions options, const std::string& address) {
  options.address = address;
  return options;
}

}  // namespace

SpawnCredit spawn_credit_of(const NodeOptions& options) {
  SpawnCredit credit;
  if (options.spawn_tasks > 0) credit.tasks = options.spawn_tasks;
  if (options.spawn_bytes > 0) credit.bytes = options.spawn_bytes;
  return credit;
}

KeeperOptions isolated_node(const NodeOptions& options, const std::optional<Place>& place) {
  KeeperOptions node;
  node.lanes = options.lanes;
  node.spawn_credit = spawn_credit_of(options);
  node.log_level = options.log_level;
  node.replicas = 1;  // The client dies with this node.
  if (!place) return node;
  node.id = {place->rank};
  node.cluster = place->cluster;
  node.share = {place->rank, place->size};
  if (place->rank == 0) {
    node.listen = place->first;
  } else {
    node.peers = {net::to_string(place->first)};
  }
  return node;
}

IsolatedClient::IsolatedClient(const NodeOptions& options, const std::optional<Place>& place)
    : keeper_(isolated_node(options, place)) {
  if (place && !keeper_.wait_for_nodes(place->size, nodes_gather_within)) {
    throw Failure({ErrorCode::peer_unreachable,
                   "not all " + std::to_string(place->size) + " processes are here after 30 s",
                   "look at what the missing ones said on stderr; does each make a dag::Session?"});
  }
  if (place) say_gathered(*place);
  client_ = std::make_unique<RemoteClient>(at(options, keeper_.endpoint().control));
}

}  // namespace dag
