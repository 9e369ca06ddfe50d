#include "nodes/client/node_links.hpp"

#include <algorithm>

#include "nodes/process/parts.hpp"

namespace dag {
namespace {

/// Many jobs look for their leader at once: a node that did not answer one need not make the next wait.
constexpr Duration unreachable_for = std::chrono::milliseconds(500);
/// A link that was just opened is about to be used.
constexpr Duration young = std::chrono::seconds(10);
/// Addresses that are remembered, of nodes that are gone.
constexpr std::size_t ever_max = 256;

}  // namespace

NodeLinks::~NodeLinks() {
  std::vector<std::unique_ptr<GatewayLink>> closed;  // Outside the lock: their threads may wait for it.
  const std::lock_guard lock(mutex_);
  for (auto& [id, entry] : links_) closed.push_back(std::move(entry.link));
}

LinkId NodeLinks::open(const std::string& address, Duration within) {
  const std::lock_guard one_at_a_time(opening_);
  LinkId id;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [known, entry] : links_) {
      if (!entry.up() || (entry.address != address && entry.listens != address)) continue;
      entry.opened = steady_now();
      return known;
    }
    std::erase_if(unreachable_, [now = steady_now()](const auto& one) { return one.second.until <= now; });
    const auto no = unreachable_.find(address);
    if (no != unreachable_.end()) throw Failure(no->second.why);
    id = {++last_};
    links_[id].address = address;
    links_[id].opened = steady_now();
  }
  GatewayEvents events;
  events.told = [this, id](ClientMessage message) { events_.told(id, std::move(message)); };
  events.note = events_.note;
  events.lost = [this, id](const Error& why) { lose(id, why); };
  try {
    auto link = std::make_unique<GatewayLink>(address, std::move(events), within);
    const std::lock_guard lock(mutex_);
    links_[id].link = std::move(link);
    remember(address);
  } catch (const Failure& failure) {
    const std::lock_guard lock(mutex_);
    links_.erase(id);
    unreachable_[address] = {steady_now() + unreachable_for, failure.error()};
    throw;
  }
  inquire(id);
  return id;
}

bool NodeLinks::is_up(LinkId link) {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(link);
  return found != links_.end() && found->second.up();
}

Error NodeLinks::why_down(LinkId link) {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(link);
  if (found != links_.end() && found->second.lost) return *found->second.lost;
  return {ErrorCode::cluster_lost, "the connection to a node was closed",
          "`dag node list --address` of another node shows which nodes are up"};
}

client::Answer NodeLinks::exchange(LinkId id, const GatewayLink::Question& question,
                                   std::optional<Duration> limit, const GatewayLink::Answered& on_interim) {
  GatewayLink* link = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = links_.find(id);
    if (found != links_.end() && found->second.up()) {
      link = found->second.link.get();
      ++found->second.users;
    }
  }
  if (link == nullptr) throw Failure(why_down(id));
  struct InUse {
    NodeLinks& links;
    LinkId id;
    ~InUse() {
      const std::lock_guard lock(links.mutex_);
      --links.links_.at(id).users;
    }
  } in_use{*this, id};
  return link->exchange(question, limit, on_interim);
}

client::Answer NodeLinks::ask(LinkId id, const GatewayLink::Question& question,
                              const GatewayLink::Answered& on_interim) {
  client::Answer answer = exchange(id, question, std::nullopt, on_interim);
  if (answer.error) throw Failure(*answer.error);
  return answer;
}

std::vector<std::string> NodeLinks::nodes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> every = nodes_;
  for (const std::string& one : ever_) {
    if (std::find(nodes_.begin(), nodes_.end(), one) == nodes_.end()) every.push_back(one);
  }
  return every;
}

void NodeLinks::remember(const std::string& address) {
  if (ever_.size() < ever_max && std::find(ever_.begin(), ever_.end(), address) == ever_.end())
    ever_.push_back(address);
}

void NodeLinks::inquire(LinkId id) {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.up() || found->second.inquired) return;
  found->second.inquired = steady_now();
  found->second.link->inquire([](std::uint64_t number) { return client::AskNodes{number}; },
                              [this, id](const client::Answer& answer) { heard(id, answer); });
}

void NodeLinks::heard(LinkId id, const client::Answer& answer) {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  found->second.inquired.reset();
  if (answer.error || answer.nodes.empty()) return;
  found->second.listens = answer.nodes.front().endpoint.control;  // Itself first.
  nodes_.clear();
  for (const NodeInfo& node : answer.nodes) {
    if (dag::is_up(node.state)) nodes_.push_back(node.endpoint.control);
  }
  for (const std::string& node : nodes_) remember(node);
}

void NodeLinks::lose(LinkId id, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = links_.find(id);
    if (found == links_.end() || found->second.lost) return;
    found->second.lost = why;
    for (const std::string& gone : {found->second.address, found->second.listens}) {
      std::erase(nodes_, gone);
      unreachable_[gone] = {steady_now() + unreachable_for, why};
    }
  }
  events_.lost(id, why);
}

void NodeLinks::look_after(const std::set<LinkId>& used) {
  std::vector<std::unique_ptr<GatewayLink>> closed;  // Outside the lock: their threads may wait for it.
  std::vector<LinkId> silent;
  std::vector<LinkId> up;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = steady_now();
    for (auto entry = links_.begin(); entry != links_.end();) {
      Entry& one = entry->second;
      const bool idle = one.users == 0 && !used.contains(entry->first) && now - one.opened > young;
      if (idle && one.link) {
        closed.push_back(std::move(one.link));
        entry = links_.erase(entry);
        continue;
      }
      if (one.up() && one.inquired && now - *one.inquired > silent_max && nodes_.size() > 1) {
        silent.push_back(entry->first);
      }
      up.push_back(entry->first);
      ++entry;
    }
  }
  closed.clear();
  for (const LinkId id : silent) {
    GatewayLink* link = nullptr;
    std::string address;
    {
      const std::lock_guard lock(mutex_);
      link = links_.at(id).link.get();  // Links end on this thread only.
      address = links_.at(id).address;
    }
    link->give_up({ErrorCode::cluster_lost, "the node at " + address + " has become silent",
                   "`dag node list --address` of another node shows which nodes are up"});
  }
  for (const LinkId id : up) inquire(id);
}

}  // namespace dag
