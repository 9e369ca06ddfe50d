#include "tools/dag/commands/said.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "dag/error.hpp"

namespace dag::tool {

Said::Said() {
  if (pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Failure({ErrorCode::internal, "no pipe: " + std::string(strerror(errno))});
  }
}

Said::~Said() {
  for (const int file : pipe_) close(file);
}

void Said::hand_to(ProgramCall& call, const std::string& variable) const {
  call.inherits.push_back(pipe_[1]);
  call.environment[variable] = std::to_string(pipe_[1]);
}

bool Said::done() {
  char byte;
  done_ = done_ || read(pipe_[0], &byte, 1) == 1;
  return done_;
}

int status_of_job(Said& submitted, int status, std::string_view program) {
  if (status != 0 || submitted.done()) return status;
  throw Failure(
      {ErrorCode::usage, "'" + std::string(program) + "' ended without submitting a job",
       "a job is a program that makes a dag::Session and calls its submit; `dag exec -- CMD` runs any "
       "command"});
}

}  // namespace dag::tool
