#pragma once
// What a warden says over its pipe to whoever started it: the number of the process, then nothing when that
// became the program, else why not.

namespace dag::warden_detail {

enum class Stage : int { process = 1, no_process, no_directory, exec_failed };

struct Report {
  Stage stage;
  int value;  ///< a process, or an errno
};

}  // namespace dag::warden_detail
