#pragma once
// Functions shared by the files of this peer, and its workloads that have a file of their own.

#include <dag/dag.hpp>
#include <memory>

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {

/// The Session of a process of its own, or of one process of `dag run`; only the client's constructor
/// returns.
std::unique_ptr<Session> open_session(const Request& request);
/// Waits for the job; throws unless exactly so many tasks have finished, and nothing else.
void expect_all_finished(const Job& job, std::uint64_t tasks);

/// Tasks without values and edges without data: what a dependence graph is elsewhere.
void add_empty_tasks(Graph& graph, const Shape& shape);
/// Submit (until the job is acknowledged, by which time it may be running) and run (from then on until every
/// task is settled).
Figures submit_and_run(Session& session, const Graph& graph);
/// Measures a round: build, submit, run, and the three together.
Figures overhead_round(Session& session, const Shape& shape);

Figures libdag_counted(const Request& request);
Figures libdag_patterns(const Request& request);
Figures libdag_memory(const Request& request);
Figures libdag_latency(const Request& request);
Figures libdag_submit(const Request& request);
Figures libdag_submits(const Request& request);
Figures libdag_settle(const Request& request);
Figures libdag_steal(const Request& request);
Figures libdag_blob(const Request& request);
Figures libdag_checkpoints(const Request& request);

}  // namespace dag::bench
