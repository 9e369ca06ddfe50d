#pragma once
// Claims about processes (schema/membership.capnp): weighed, written and read for every conversation that has
// them. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/wire/codec/conversations.hpp"

namespace dag::wire {

/// Words of everything that a claim points to.
std::size_t words_below(const Claim& claim);
void write(schema::Claim::Builder to, const Claim& claim);
Claim read(schema::Claim::Reader from);

}  // namespace dag::wire
