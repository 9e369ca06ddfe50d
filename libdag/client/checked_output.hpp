#pragma once
// For programs whose output is data that others read: what did not arrive there must not look like success.

#include <string>
#include <string_view>

#include "dag/error.hpp"

namespace dag {

/// From here on a closed pipe is an error of the write, as a full disk is, and does not end the process
/// silently. Programs that this one starts are not affected.
void heed_closed_pipes();

/// What a program ends with: `status`, or exit_work_failed when the program succeeded and some of its output
/// was lost. Says on stderr that output was lost.
int checked_output(std::string_view program, int status);

/// Why what the user wanted in this file is not there, by errno: only a disk that is full is called so.
Error not_written(const std::string& file, int problem);

}  // namespace dag
