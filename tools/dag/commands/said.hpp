#pragma once
// A pipe over which a child reports once that it has come so far. A variable of the child's environment has
// the pipe's number.

#include <string>
#include <string_view>

#include "tools/dag/cluster/process.hpp"

namespace dag::tool {

class Said {
 public:
  /// Throws Failure when there is no pipe.
  Said();
  ~Said();
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  /// The child inherits the pipe's end, and finds its number in the variable.
  void hand_to(ProgramCall& call, const std::string& variable) const;
  /// True: the child has reported by now.
  bool done();

 private:
  int pipe_[2];
  bool done_ = false;
};

/// A job's first Session::submit says so by DAG_SUBMITTED. Ends with `status`, unless that is 0 and nothing
/// was submitted: such a program is no job.
int status_of_job(Said& submitted, int status, std::string_view program);

}  // namespace dag::tool
