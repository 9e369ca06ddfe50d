#pragma once
// Turns notes, of a kernel's words or of what happened to an attempt, into the events that a program
// sees.

#include "actors/lanes/lanes.hpp"
#include "dag/session.hpp"
#include "libdag/home/home.hpp"
#include "libdag/wire/operation.hpp"

namespace dag {

wire::JobNote note_by(const Speaker& by, wire::JobNote::Kind kind, std::string_view text,
                      double fraction = 0);
wire::JobNote note_of(JobId job, Troubled what);
/// Not for `over` notes, which only keepers of the last progress hear.
JobEvent event_of(wire::JobNote note);

}  // namespace dag
