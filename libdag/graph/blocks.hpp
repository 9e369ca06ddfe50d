#pragma once
// Tasks that must have the same home: a job actor's calls, the tasks that were handed its handle (they may
// spawn calls of it), and all of these for actors that are saved together; and the members of a group, which
// are supervised together. Every other task is a block of its own.

#include <cstdint>
#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// The block of each task, numbered by first task: block 0 holds task 0. Blocks are the smallest units that a
/// partition may separate.
std::vector<std::uint32_t> blocks(const detail::Fragment& fragment);

}  // namespace dag
