#pragma once
// A warden's message over its pipe to its starter: the number of the process, then nothing when that became
// the program, else the error.

namespace dag::warden_detail {

enum class Stage : int { process = 1, no_process, no_directory, exec_failed };

struct Report {
  Stage stage;
  int value;  ///< a process, or an errno
};

}  // namespace dag::warden_detail
