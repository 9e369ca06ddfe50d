#pragma once
// The control group (version 2) that this process is in.

#include <string>

namespace dag {

/// Its directory, where this process may make groups in it; empty: there is none, or it may not.
std::string writable_control_group();

}  // namespace dag
