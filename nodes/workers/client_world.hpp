#pragma once
// The part of a client's world that reaches the kernels of its job: environment, limits, library paths. The
// client sends it with its job (Launch), a node gives it to the worker processes it starts.
//
// Not everything travels. Excluded are names of libdag's own, by which its processes tell each other what
// they are, and settings of nodes; and variables that have a meaning on one host or in one session only:
// LD_PRELOAD, LD_AUDIT, the display, sockets of agents, the session bus. Of these a worker process has those
// of its node, but for libdag's own. nodes/workers/CLIENT_WORLD.md has the list.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/keeper/messages.hpp"

namespace dag {

/// True: a variable of the client reaches the kernels of its job.
bool travels(std::string_view name);

// ---- In the client

/// NAME=VALUE of this process's environment, of the variables that travel. Throws Failure(usage) when it is
/// more than a job may have.
std::vector<std::string> travelling_environment();
/// As Launch::limits.
std::vector<std::uint64_t> soft_limits();
/// As Launch::library_path.
std::string library_path();

// ---- In a node that starts a worker process

/// The environment that the worker process is started with.
std::vector<std::string> environment_of_worker(const Launch& launch, const std::string& seat);

// ---- In the worker process

/// Removes the variables that only its start needed: kernels, and processes that they start, find the
/// environment of the client. Before there are threads.
void forget_how_it_was_started();

}  // namespace dag
