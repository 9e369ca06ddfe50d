#pragma once
// Notes for whoever follows a job: from what a kernel says or what happened to an attempt, to the event that
// a program sees.

#include "actors/lanes/lanes.hpp"
#include "dag/session.hpp"
#include "libdag/home/home.hpp"
#include "libdag/wire/operation.hpp"

namespace dag {

wire::JobNote note_by(const Speaker& by, wire::JobNote::Kind kind, std::string_view text,
                      double fraction = 0);
wire::JobNote note_of(JobId job, Troubled what);
/// Not of `over`, which only those hear who keep what was said last.
JobEvent event_of(wire::JobNote note);

}  // namespace dag
