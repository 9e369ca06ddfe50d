#pragma once
// How a worker process ended, out of the status that its node waited for and the page that its lanes wrote.
// Decides whether what ran there may be to blame; which of it is, others decide (supervision/blame.hpp).

#include <string>

#include "actors/lanes/running_page.hpp"
#include "libdag/supervision/blame.hpp"

namespace dag {

struct HowEnded {
  ProcessEnd end;
  std::string text;  ///< for people: "signal 11 (Segmentation fault)"
};

/// `status` as waitpid gives it.
HowEnded end_of(int status, const RunningPage& page);

/// The end of what a process wrote to this file, as a part of the sentence on how it ended; empty when it
/// wrote nothing.
std::string last_words(const std::string& log);

}  // namespace dag
