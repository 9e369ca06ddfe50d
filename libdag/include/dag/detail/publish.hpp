#pragma once
// What lies between the two rows of a task that stages files: the output of the one that ran the kernel,
// which the other one puts where it belongs. Not a public interface.

#include <string>
#include <vector>

#include "dag/blob.hpp"
#include "dag/detail/fragment.hpp"

namespace dag::detail {

struct StagedFile {
  std::string path;  ///< where it belongs: absolute
  Blob bytes;
};

/// The files, and what the kernel returned (nothing, where it returns nothing).
Blob pack(const std::vector<StagedFile>& files, const Blob& value);
/// Throws Failure(value_invalid) when `packed` is nothing that pack made.
std::vector<StagedFile> unpack(const Blob& packed, Blob& value);

/// The code of rows that publish.
Code publisher();

}  // namespace dag::detail
