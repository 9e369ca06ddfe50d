#include "nodes/inspector/pages.hpp"

#include <string_view>

// The assembler puts the files here: DAG_WEB_UI is where they lie, which CMake says.
#define DAG_FILE(name, file)                                                      \
  asm(".section .rodata\n"                                                        \
      ".global dag_ui_" #name "\n.hidden dag_ui_" #name "\ndag_ui_" #name         \
      ":\n"                                                                       \
      ".incbin \"" DAG_WEB_UI "/" file                                            \
      "\"\n"                                                                      \
      ".global dag_ui_" #name "_end\n.hidden dag_ui_" #name "_end\ndag_ui_" #name \
      "_end:\n.byte 0\n"                                                          \
      ".previous\n");                                                             \
  extern "C" const char dag_ui_##name[], dag_ui_##name##_end[]

DAG_FILE(html, "index.html");
DAG_FILE(script, "app.js");
DAG_FILE(style, "app.css");

namespace dag::inspector {

std::optional<web::HttpAnswer> page_of(const std::string& path) {
  const auto file = [](const char* type, const char* begin, const char* end) {
    web::HttpAnswer answer{200, type, {}};
    answer.made = [begin, end] { return std::string(begin, end); };
    return answer;
  };
  if (path == "/") return file("text/html; charset=utf-8", dag_ui_html, dag_ui_html_end);
  if (path == "/app.js") return file("text/javascript; charset=utf-8", dag_ui_script, dag_ui_script_end);
  if (path == "/app.css") return file("text/css; charset=utf-8", dag_ui_style, dag_ui_style_end);
  return std::nullopt;
}

}  // namespace dag::inspector
