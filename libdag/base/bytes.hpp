#pragma once

#include <cstdint>
#include <string>

namespace dag {

/// For people: "512 B", "23.5 GiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace dag
