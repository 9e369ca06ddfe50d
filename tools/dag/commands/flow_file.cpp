#include "tools/dag/commands/flow_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <dag/error.hpp>
#include <filesystem>
#include <map>

#include "libdag/client/nearest.hpp"
#include "libdag/workflows/workflow_file.hpp"
#include "tools/dag/commands/command_effects.hpp"

namespace dag::tool {
namespace {

/// The hint for a word that is none of the known ones.
std::string meant(std::string_view typed, const std::vector<std::string_view>& known,
                  const std::string& otherwise) {
  const auto near = dag::detail::nearest(typed, known);
  return near ? "did you mean '" + std::string(*near) + "'?" : otherwise;
}

/// Two paths to one file, as far as that can be told without the file.
std::string plain_path(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

class Reading {
 public:
  explicit Reading(const std::string& path) : path_(path) {}

  Flow read(const std::string& text) {
    const toml::table file = parse(text);
    refuse_unknown(file, {"name", "task"}, "of a workflow");
    Flow flow;
    flow.name = path_;
    if (const toml::node* name = file.get("name")) flow.name = text_of(*name, "name");
    const toml::node* tasks = file.get("task");
    if (tasks == nullptr || !tasks->is_table() || tasks->as_table()->empty()) {
      refuse(tasks == nullptr ? file.source() : tasks->source(), "there is no task",
             "write [task.NAME] and below it command = \"...\"");
    }
    for (const auto& [id, node] : *tasks->as_table()) {
      number_of_.emplace(std::string(id), 0);
    }
    // Tables are sorted by name; people expect the order of the file.
    std::vector<std::pair<toml::source_position, std::string>> order;
    for (const auto& [id, node] : *tasks->as_table())
      order.emplace_back(node.source().begin, std::string(id));
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < order.size(); ++i) number_of_[order[i].second] = i;
    for (const auto& [at, id] : order) flow.tasks.push_back(task(id, *tasks->as_table()->get(id)));
    for (const auto& [reader, path] : reads_) {
      const auto writer = writer_of_.find(path);
      if (writer == writer_of_.end())
        continue;  // An input that no task writes is there, or the command complains.
      std::vector<std::size_t>& after = flow.tasks[number_of_.at(reader)].after;
      if (std::find(after.begin(), after.end(), writer->second) == after.end())
        after.push_back(writer->second);
    }
    return flow;
  }

 private:
  toml::table parse(const std::string& text) {
    try {
      return toml::parse(text, path_);
    } catch (const toml::parse_error& error) {
      refuse(error.source(), std::string(error.description()), "");
    }
  }

  FlowTask task(const std::string& id, const toml::node& node) {
    const std::string what = "task." + id;
    if (!node.is_table()) refuse(node.source(), what + " must be a table", "write [" + what + "]");
    const toml::table& table = *node.as_table();
    refuse_unknown(table,
                   {"command", "after", "attempts", "timeout_seconds", "cpus", "directory", "environment",
                    "inputs", "outputs", "effects"},
                   "of a task");
    FlowTask task;
    task.id = id;
    const toml::node* command = table.get("command");
    if (command == nullptr) refuse(node.source(), what + " has no command", "add command = \"...\"");
    if (command->is_string()) {
      task.words = {"/bin/sh", "-c", text_of(*command, what + ".command")};
    } else {
      task.words = texts_of(*command, what + ".command");
    }
    const bool is_blank =
        command->is_string() && task.words.back().find_first_not_of(" \t\r\n") == std::string::npos;
    if (task.words.empty() || task.words.front().empty() || is_blank)
      refuse(command->source(), what + ".command is empty", "");
    if (const toml::node* after = table.get("after")) {
      for (const auto& [other, source] : named_texts_of(*after, what + ".after")) {
        const auto found = number_of_.find(other);
        if (found == number_of_.end()) {
          std::vector<std::string_view> names;
          for (const auto& [known, number] : number_of_) names.push_back(known);
          refuse(source, what + " is after '" + other + "', which is no task", meant(other, names, ""));
        }
        task.after.push_back(found->second);
      }
    }
    if (const toml::node* attempts = table.get("attempts")) {
      const auto number = attempts->is_integer() ? attempts->value<std::int64_t>() : std::nullopt;
      if (!number || *number < 1 || *number > 1000)
        refuse(attempts->source(), what + ".attempts must be a number from 1 to 1000", "");
      task.attempts = static_cast<std::uint32_t>(*number);
    }
    if (const toml::node* timeout = table.get("timeout_seconds")) {
      task.timeout_seconds = positive(*timeout, what + ".timeout_seconds", 1e8);
    }
    if (const toml::node* cpus = table.get("cpus")) task.cpus = positive(*cpus, what + ".cpus", 1024);
    if (const toml::node* directory = table.get("directory")) {
      task.directory = text_of(*directory, what + ".directory");
    }
    if (const toml::node* environment = table.get("environment")) {
      if (!environment->is_table()) refuse(environment->source(), what + ".environment must be a table", "");
      for (const auto& [name, value] : *environment->as_table()) {
        task.environment.push_back(std::string(name) + "=" +
                                   text_of(value, what + ".environment." + std::string(name)));
      }
    }
    if (const toml::node* inputs = table.get("inputs")) {
      for (const auto& [path, source] : files_of(*inputs, what + ".inputs"))
        reads_.emplace_back(id, plain_path(task.directory, path));
    }
    if (const toml::node* outputs = table.get("outputs")) {
      for (const auto& [path, source] : files_of(*outputs, what + ".outputs")) {
        task.outputs.push_back(plain_path(task.directory, path));
        if (!writer_of_.emplace(task.outputs.back(), number_of_.at(id)).second)
          refuse(source, "'" + path + "' is an output of two tasks, or twice of one",
                 "name each output once");
      }
      task.effects = Effects::staged;
    }
    if (const toml::node* effects = table.get("effects"))
      task.effects = effects_of(*effects, what + ".effects", !task.outputs.empty());
    return task;
  }

  Effects effects_of(const toml::node& node, const std::string& what, bool has_outputs) {
    const std::string word = text_of(node, what);
    std::vector<std::string_view> words;
    for (const auto& [known, effects] : effects_of_commands()) words.push_back(known);
    const auto found = effects_of_commands().find(word);
    if (found == effects_of_commands().end()) {
      refuse(node.source(), what + " cannot be '" + word + "'",
             meant(word, words, "it is pure, idempotent, exclusive or at_most_once"));
    }
    if (has_outputs) {
      refuse(node.source(), what + " is said of a task that has outputs",
             "a task with outputs is staged: leave its effects out");
    }
    return found->second;
  }

  std::vector<std::pair<std::string, toml::source_region>> files_of(const toml::node& node,
                                                                    const std::string& what) {
    auto files = named_texts_of(node, what);
    for (const auto& [path, source] : files) {
      if (!std::filesystem::path(path).has_filename())
        refuse(source, what + " has '" + path + "', which names no file", "write the path of a file");
    }
    return files;
  }

  double positive(const toml::node& node, const std::string& what, double most) {
    const auto number = node.is_number() ? node.value<double>() : std::nullopt;
    if (!number || !(*number > 0) || !(*number <= most)) {
      refuse(node.source(), what + " must be a number above 0", "");
    }
    return *number;
  }

  std::string text_of(const toml::node& node, const std::string& what) {
    const auto text = node.is_string() ? node.value<std::string>() : std::nullopt;
    if (!text) refuse(node.source(), what + " must be a string", "");
    if (text->find('\0') != std::string::npos) refuse(node.source(), what + " has a zero byte", "");
    return *text;
  }

  std::vector<std::pair<std::string, toml::source_region>> named_texts_of(const toml::node& node,
                                                                          const std::string& what) {
    if (node.is_string()) return {{text_of(node, what), node.source()}};
    if (!node.is_array()) refuse(node.source(), what + " must be a string or a list of strings", "");
    std::vector<std::pair<std::string, toml::source_region>> texts;
    for (const toml::node& one : *node.as_array()) texts.emplace_back(text_of(one, what), one.source());
    return texts;
  }
  std::vector<std::string> texts_of(const toml::node& node, const std::string& what) {
    std::vector<std::string> texts;
    for (auto& [text, source] : named_texts_of(node, what)) texts.push_back(text);
    return texts;
  }

  void refuse_unknown(const toml::table& table, const std::vector<std::string>& known,
                      const std::string& whose) {
    for (const auto& [key, node] : table) {
      const std::string name(key);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string all;
      for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
      refuse(key.source(), "unknown key '" + name + "'",
             meant(name, {known.begin(), known.end()}, "keys " + whose + " are " + all));
    }
  }

  [[noreturn]] void refuse(const toml::source_region& at, const std::string& what, const std::string& hint) {
    throw Failure(
        {ErrorCode::configuration_invalid,
         path_ + ":" + std::to_string(at.begin.line) + ":" + std::to_string(at.begin.column) + ": " + what,
         hint});
  }

  const std::string& path_;
  std::map<std::string, std::size_t> number_of_;
  std::map<std::string, std::size_t> writer_of_;            ///< by the path of an output
  std::vector<std::pair<std::string, std::string>> reads_;  ///< a task, and the path of an input
};

}  // namespace

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

bool is_of_recorded_workflows(std::string_view ending) {
  return ending == ".stg" || ending == ".json" || ending == ".dax" || ending == ".xml";
}

bool is_flow(const std::string& path, std::string_view text) {
  const std::string ending = ending_of(path);
  if (ending == ".toml") return true;
  if (is_of_recorded_workflows(ending)) return false;
  text = without_byte_order_mark(text);
  for (;;) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    text.remove_prefix(first);
    if (!text.starts_with('#')) break;  // A comment of TOML, and of STG.
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text.front() == '[' || text.front() == '_' || std::isalpha(static_cast<unsigned char>(text.front()));
}

Flow read_flow(const std::string& path, const std::string& text) { return Reading(path).read(text); }

}  // namespace dag::tool
