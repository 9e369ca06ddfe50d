#pragma once
// Files that are there whole or not at all, whenever the machine stops.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// Leaves either `bytes` under the name or the earlier file: written beside it, synced, renamed, and the
/// directory synced. Error disk_full, or configuration_invalid for any other reason; then nothing is left of
/// `bytes`, unless the directory cannot be synced: the next start will see which of both is there.
Status write_whole(Files& files, const std::string& name, std::span<const std::byte> bytes);

/// The error for doing `what` to the file, from `errno`.
Error cannot(const std::string& what, const std::string& name);

/// 16 digits.
std::string hex(std::uint64_t value);

}  // namespace dag
