#pragma once
// Where processes of one user leave what others of them look for: the address of the cluster that `dag up`
// started, logs.

#include <string>

#include "libdag/base/result.hpp"

namespace dag::detail {

/// $XDG_RUNTIME_DIR/dag, or /tmp/dag-UID where there is no such directory.
std::string state_dir_default();

/// Makes the directory (and those above it) when it is missing, for this user alone. configuration_invalid
/// when it, or the one above, is somebody else's or a link of theirs, or others may write there: what it says
/// is believed, and what is written there is not to land elsewhere.
Status make_state_dir(const std::string& path);

}  // namespace dag::detail
