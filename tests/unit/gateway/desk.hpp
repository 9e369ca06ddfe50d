#pragma once
// A gateway with a client, for tests of its decisions.

#include <catch2/catch.hpp>

#include "dag/detail/builder.hpp"
#include "dag/graph.hpp"
#include "libdag/gateway/gateway.hpp"

namespace dag::test {

using namespace std::chrono_literals;

inline const Life first{{0}, {7}}, second{{1}, {7}}, someone{client_process(3), {9}};
inline const ProgramId program{1, 2, 3};

inline Claim node(Life life, std::uint32_t lanes = 2) {
  Claim claim;
  claim.life = life;
  claim.endpoint = {to_string(life.process) + ":1", to_string(life.process) + ":2"};
  claim.load.devices.push_back({"cpu", lanes, lanes, 1u << 30, 1u << 30, Duration{0}});
  return claim;
}

inline std::shared_ptr<const detail::Fragment> chain(dag::Needs needs = {}) {
  Graph graph("chain");
  auto one = graph.task("one", [] { return 1; });
  graph
      .task(
          "two", [](int n) { return n + 1; }, one)
      .needs(needs);
  return std::make_shared<const detail::Fragment>(graph.builder().sealed());
}

/// A gateway with a client, and all that it asked for, by kind.
struct Desk {
  GatewayMachine gateway;
  Instant now{1s};
  std::vector<GatewayEffect> effects;

  explicit Desk(bool recorded = false, std::uint32_t replicas = 1)
      : gateway(first, 100, recorded, {}, replicas) {
    gateway.on_nodes({node(first), node(second)}, now);
  }
  void take() {
    for (GatewayEffect& effect : gateway.take_effects()) effects.push_back(std::move(effect));
    gateway.check_invariants();
  }
  void say(ClientMessage message) {
    gateway.on_client_message(someone, std::move(message), now);
    take();
  }
  void hear(Life from, const KeeperMessage& message) {
    gateway.on_keeper_message(from, message, now);
    take();
  }
  template <class Message>
  std::vector<Message> told() {
    std::vector<Message> found;
    for (const GatewayEffect& effect : effects) {
      const auto* sent = std::get_if<SendToClient>(&effect);
      if (sent == nullptr) continue;
      if (const auto* message = std::get_if<Message>(&sent->message)) found.push_back(*message);
    }
    return found;
  }
  template <class Message>
  std::vector<std::pair<Life, Message>> ordered() {
    std::vector<std::pair<Life, Message>> found;
    for (const GatewayEffect& effect : effects) {
      const auto* sent = std::get_if<SendToKeeper>(&effect);
      if (sent == nullptr) continue;
      if (const auto* message = std::get_if<Message>(&sent->message)) found.emplace_back(sent->to, *message);
    }
    return found;
  }
  template <class Effect>
  std::vector<Effect> done() {
    std::vector<Effect> found;
    for (const GatewayEffect& effect : effects) {
      if (const auto* one = std::get_if<Effect>(&effect)) found.push_back(*one);
    }
    return found;
  }
  JobId submit(std::shared_ptr<const detail::Fragment> graph = chain(), bool supervise_all = false) {
    say(client::AskHandle{1});
    const JobId job = *told<client::Answer>().back().job;
    client::AskSubmit submission{2, job, "chain", std::move(graph), {program, "build", {"job"}, "/"}, false};
    submission.supervise_all = supervise_all;
    gateway.on_program(program, std::nullopt, now);
    say(submission);
    return job;
  }
  Life up(JobId job, Life host, std::uint32_t number) {
    const Life life{worker_process(host.process, static_cast<std::uint16_t>(number)), host.incarnation};
    hear(host, keeper::WorkerUp{job, number, life, {to_string(life.process), "b"}, 4711});
    return life;
  }
};

}  // namespace dag::test
