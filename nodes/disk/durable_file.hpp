#pragma once
// Files that are there whole or not at all, whenever the machine stops.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// All of it under its name, or what was there before: written beside it, synced, renamed, and the directory
/// synced. disk_full, or configuration_invalid for any other reason; then nothing is left of it,
/// unless it is the directory that cannot be synced: which of both is there will be seen at the next start.
Status write_whole(Files& files, const std::string& name, std::span<const std::byte> bytes);

/// What `errno` says about doing that to the file.
Error cannot(const std::string& what, const std::string& name);

/// 16 digits.
std::string hex(std::uint64_t value);

}  // namespace dag
