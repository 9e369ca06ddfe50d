#include "libdag/client/draw_request.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/drawing/drawing.hpp"

namespace dag::detail {

void draw_if_asked(const Fragment& fragment, const std::string& title) {
  const char* file = std::getenv("DAG_DRAW");
  if (file == nullptr || *file == '\0') return;
  heed_closed_pipes();
  const char* wanted = std::getenv("DAG_DRAW_FORMAT");
  const std::string format = wanted == nullptr ? "dot" : wanted;
  DrawOptions options;
  options.title = title;
  const std::string name = file;
  std::ofstream opened;
  if (name != "-") opened.open(name);
  std::ostream& out = name == "-" ? std::cout : opened;  // The target of stdout is not truncated.
  if (format == "json") {
    out << json(fragment, title);
  } else if (format == "svg") {
    out << svg(draw(fragment, options));
  } else if (format == "mmd") {
    out << mermaid(draw(fragment, options));
  } else {
    out << dot(draw(fragment, options));
  }
  out.flush();
  if (name == "-") std::_Exit(checked_output("dag", EXIT_SUCCESS));
  if (out) std::_Exit(EXIT_SUCCESS);
  const Error why = not_written(name, errno);
  std::cerr << "dag: " << why.message() << '\n';
  std::_Exit(exit_status_of(why.code));
}

}  // namespace dag::detail
