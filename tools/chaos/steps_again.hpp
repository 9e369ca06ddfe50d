#pragma once
// The part of a training that was done twice, by the journals of its nodes.

#include <cstdint>
#include <string>
#include <vector>

namespace dag::chaos {

/// The task that ends a step of examples/train_gpt, once for each of its stages.
inline constexpr const char* ends_step = "gpt::StageActor::apply";

/// For each of these moments (nanoseconds since 1970, ascending): the steps that had been taken before and
/// were taken again until the next one. `directories` are the data directories of all nodes. Throws when
/// there is no journal, or it reports no taken step.
std::vector<double> steps_again(const std::vector<std::string>& directories,
                                const std::vector<std::int64_t>& moments_unix_ns, std::uint32_t steps);

}  // namespace dag::chaos
