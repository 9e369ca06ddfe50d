#pragma once
// For programs whose output is data that others read: lost output must not look like success.

#include <string>
#include <string_view>

#include "dag/error.hpp"

namespace dag {

/// From here on a closed pipe is an error of the write, as a full disk is, and does not end the process
/// silently. Child processes are not affected.
void heed_closed_pipes();

/// The program's exit status: `status`, or exit_work_failed when the program succeeded and some of its output
/// was lost. Says on stderr that output was lost.
int checked_output(std::string_view program, int status);

/// The error for a file that could not be written, by errno: only a full disk is called disk_full.
Error not_written(const std::string& file, int problem);

}  // namespace dag
