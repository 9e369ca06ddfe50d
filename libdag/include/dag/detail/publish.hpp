#pragma once
// The value between the two rows of a task that stages files: the output of the row that ran the kernel,
// which the other row puts in place. Not a public interface.

#include <string>
#include <vector>

#include "dag/blob.hpp"
#include "dag/detail/fragment.hpp"

namespace dag::detail {

struct StagedFile {
  std::string path;  ///< where it belongs: absolute
  Blob bytes;
};

/// The files, and the kernel's result (nothing, where the kernel returns nothing).
Blob pack(const std::vector<StagedFile>& files, const Blob& value);
/// Throws Failure(value_invalid) when `packed` does not come from pack.
std::vector<StagedFile> unpack(const Blob& packed, Blob& value);

/// The code of rows that publish.
Code publisher();

}  // namespace dag::detail
