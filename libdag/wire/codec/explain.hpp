#pragma once
// Why tasks are where they are (schema/explain.capnp): written and read for the client's
// conversation and the keepers'. Includes generated code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/job/explained.hpp"
#include "libdag/schema/explain.capnp.h"
#include "libdag/wire/codec/records.hpp"

namespace dag::wire {

void write(schema::TaskSelector::Builder to, const TaskSelector& selector);
TaskSelector read(schema::TaskSelector::Reader from, Reading& reading);

void write(schema::ProcessExplained::Builder to, const ProcessExplained& process);
ProcessExplained read(schema::ProcessExplained::Reader from, Reading& reading);

}  // namespace dag::wire
