#pragma once
// Claims about processes (schema/membership.capnp): written and read for every conversation that has
// them. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/wire/codec/conversations.hpp"

namespace dag::wire {

void write(schema::Claim::Builder to, const Claim& claim);
Claim read(schema::Claim::Reader from);

}  // namespace dag::wire
