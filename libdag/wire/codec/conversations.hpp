#pragma once
// The functions of each conversation for envelope.cpp: weight of a message beyond its Operation element,
// writing, reading. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include <optional>

#include "libdag/base/overloaded.hpp"
#include "libdag/schema/envelope.capnp.h"
#include "libdag/wire/codec/records.hpp"
#include "libdag/wire/operation.hpp"

namespace dag::wire {

/// The conversation's struct and all below it; envelope.cpp counts the Operation that points to it.
std::size_t words(const Handshake& message);
std::size_t words(const MembershipMessage& message);
std::size_t words(const JobMessage& message);
std::size_t words(const ClientMessage& message);
std::size_t words(const KeeperMessage& message);
std::size_t words(const RingMessage& message);
std::size_t words(const consensus::Addressed& message);

void write(schema::Handshake::Builder to, const Handshake& message);
void write(schema::Membership::Builder to, const MembershipMessage& message);
void write(schema::Client::Builder to, const ClientMessage& message, const CodeMap& codes);
void write(schema::Keeper::Builder to, const KeeperMessage& message);
void write(schema::Ring::Builder to, const RingMessage& message);
void write(schema::Consensus::Builder to, const consensus::Addressed& message);
/// A message of a job picks its conversation.
void write(schema::Operation::Builder to, const JobMessage& message, const CodeMap& codes);

/// Empty: this build does not know the message. Throws Invalid or kj::Exception.
std::optional<Handshake> read(schema::Handshake::Reader from, Reading& reading);
std::optional<MembershipMessage> read(schema::Membership::Reader from, Reading& reading);
std::optional<ClientMessage> read(schema::Client::Reader from, Reading& reading);
std::optional<KeeperMessage> read(schema::Keeper::Reader from, Reading& reading);
std::optional<RingMessage> read(schema::Ring::Reader from, Reading& reading);
std::optional<consensus::Addressed> read(schema::Consensus::Reader from, Reading& reading);
/// Likewise, false for an unknown message. A JobMessage is large, so it is read where it will stay.
bool read(schema::Cell::Reader from, Reading& reading, JobMessage& into);
bool read(schema::Tasks::Reader from, Reading& reading, JobMessage& into);
bool read(schema::Outputs::Reader from, Reading& reading, JobMessage& into);

}  // namespace dag::wire
