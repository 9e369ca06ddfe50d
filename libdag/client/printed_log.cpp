#include "libdag/client/printed_log.hpp"

#include <iostream>

namespace dag::detail {

void print_log(const JobEvent& event) {
  if (event.kind == JobEvent::Kind::progress) return;
  // In one piece: the program's own threads may write, too.
  std::string line = event.task + " (" + event.number + "): " + event.text;
  if (line.back() != '\n') line += '\n';
  std::cerr << line << std::flush;
}

}  // namespace dag::detail
