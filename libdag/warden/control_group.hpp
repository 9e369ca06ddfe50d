#pragma once
// The control group (version 2) that this process is in.

#include <string>

namespace dag {

/// Its directory, if this process may make groups in it; empty: no such group.
std::string writable_control_group();

}  // namespace dag
