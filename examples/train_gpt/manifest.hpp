// The MANIFEST of a checkpoint as text and back. The format is described in checkpoint_files.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint_files.hpp"

namespace gpt {

struct ChunkEntry {
  std::uint64_t size_bytes = 0;
  std::uint64_t hash = 0;  ///< XXH3-64

  bool operator==(const ChunkEntry&) const = default;
};

struct Manifest {
  std::string job;
  std::uint64_t step = 0;
  std::optional<std::uint64_t> previous;
  std::map<std::string, std::string> notes;
  std::vector<ChunkEntry> chunks;
};

/// All lines but the last.
std::string manifest_lines(const Manifest& manifest);

/// The last line, "all <hash>\n".
std::string all_line(const std::string& lines, std::span<const std::vector<std::uint8_t>> chunks);

struct ParsedManifest {
  Manifest manifest;
  std::string lines;     ///< as read, without the last
  std::string all_line;  ///< the last, as read
};

/// Throws CheckpointError with the number of the line that makes no sense. Does not check hashes.
ParsedManifest parse_manifest(const std::string& text);

std::uint64_t chunk_hash(std::span<const std::uint8_t> chunk);

}  // namespace gpt
