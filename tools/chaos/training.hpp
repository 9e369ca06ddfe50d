#pragma once
// A training whose leading node is killed again and again: checks that it reaches the very losses of an
// undisturbed training, and measures the time from each kill to a new step.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/chaos/jobs.hpp"

namespace dag::chaos {

struct TrainingOptions {
  std::uint32_t steps = 400;
  /// All stages save themselves together after so many steps.
  std::uint32_t save_every = 5;
  /// Seconds between two kills.
  std::uint32_t every = 10;
};

/// examples/train_gpt, first alone in one process, then on three nodes with disks. The node that leads its
/// record is killed, and started again at once, until it is over. Returns the report.
nlohmann::json disturb_training(const TrainingOptions& options, const std::filesystem::path& directory,
                                const std::filesystem::path& programs);

}  // namespace dag::chaos
