#pragma once
// Lend has a file of its own: it carries a whole attempt. Includes generated code, so it is for the .cpp
// files of libdag/wire alone.

#include "libdag/wire/codec/jobs.hpp"

namespace dag::wire {

message::Lend read_lend(schema::Tasks::Reader tasks, Reading& reading);

}  // namespace dag::wire
