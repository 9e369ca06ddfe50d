#pragma once
// The files of the web UI, embedded in this program. They are built from tools/inspector/web, and committed
// in nodes/http/ui, so that nobody needs Node to build a node.

#include <optional>
#include <string>

#include "nodes/http/http_door.hpp"

namespace dag::inspector {

/// None: there is no such file.
std::optional<web::HttpAnswer> page_of(const std::string& path);

}  // namespace dag::inspector
