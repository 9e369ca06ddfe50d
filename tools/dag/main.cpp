// `dag`: the launcher. Data goes to stdout, messages to stderr; exit_status.hpp says what it ends with.

#include <algorithm>
#include <iostream>

#include "tools/dag/commands.hpp"
#include "tools/dag/exit_status.hpp"

namespace {

/// Edits that turn one word into the other (Levenshtein), for suggestions.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

void suggest(const CLI::App& app, std::string_view typed) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (distance(typed, command->get_name()) <= 2)
      std::cerr << "did you mean 'dag " << command->get_name() << "'?\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs task graphs on libdag.", "dag");
  app.require_subcommand(1);
  dag::tool::Chosen chosen;
  dag::tool::add_run(app, chosen);
  dag::tool::add_graph(app, chosen);
  dag::tool::add_version(app, chosen);
  try {
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError& error) {
    const bool wrong = app.exit(error) != 0;
    if (wrong && argc > 1 && argv[1][0] != '-') suggest(app, argv[1]);
    return wrong ? dag::tool::exit_usage : dag::tool::exit_ok;
  } catch (const dag::Failure& failure) {
    std::cerr << "dag: " << failure.what() << '\n';
    return dag::tool::exit_status_of(failure.error().code);
  } catch (const std::exception& error) {
    std::cerr << "dag: " << error.what() << '\n';
    return dag::tool::exit_work_failed;
  }
}
