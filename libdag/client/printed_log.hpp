#pragma once
// Prints lines of Context::log and events of attempts when the program has not taken events by
// Session::on_event.

#include "dag/session.hpp"

namespace dag::detail {

/// "train (2): loss 0.5", on stderr, as a line of its own. Progress is not printed.
void print_log(const JobEvent& event);

}  // namespace dag::detail
