#pragma once
// How a job's program is started (schema/keeper.capnp): written and read for the client's
// conversation and the keepers'. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/wire/codec/conversations.hpp"

namespace dag::wire {

/// Throws Invalid when the client was started with more than a receiver takes.
void write(schema::Launch::Builder to, const Launch& launch);
Launch read(schema::Launch::Reader from, Reading& reading);

}  // namespace dag::wire
