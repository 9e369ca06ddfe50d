#pragma once
// Directory in which processes of a user leave files for each other: the address of the cluster that `dag up`
// started, logs.

#include <string>

#include "libdag/base/result.hpp"

namespace dag::detail {

/// $XDG_RUNTIME_DIR/dag, or /tmp/dag-UID where there is no such directory.
std::string state_dir_default();

/// Makes the directory (and its parents) when it is missing, for this user alone. configuration_invalid when
/// the directory or its parent belongs to another user, is another user's link, or is writable for others:
/// its files are trusted, and new files must not land elsewhere.
Status make_state_dir(const std::string& path);

}  // namespace dag::detail
