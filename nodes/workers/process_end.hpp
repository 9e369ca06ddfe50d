#pragma once
// How a worker process ended, out of the status that its node waited for and the page that its lanes wrote.
// Decides whether its running attempts may be to blame; supervision/blame.hpp decides which of them.

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

/// The end of a process's output in this file, as a part of the sentence on how it ended; empty when it wrote
/// nothing.
std::string last_words(const std::string& log);

}  // namespace dag
