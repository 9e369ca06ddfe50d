// Reads WfFormat (github.com/wfcommons/WfFormat). 1.3 and 1.4 keep all of a task in one object under
// `workflow`; 1.5 separates requests (`specification`) from measurements (`execution`), joined by the task's
// id.

#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libdag/base/limits.hpp"
#include "libdag/graph/text.hpp"
#include "libdag/workflows/workflow.hpp"
#include "libdag/workflows/workflow_links.hpp"

namespace dag {
namespace {

Error wrong(std::string what) {
  return {ErrorCode::configuration_invalid, std::move(what),
          "this should be an instance in WfFormat 1.3 to 1.5, as wfcommons.org publishes them"};
}

// ---- JSON

using Json = nlohmann::json;

/// Reads a text that is no JSON once more, for the place and the reason: parse() without exceptions has
/// neither.
class Complaint final : public nlohmann::json_sax<Json> {
 public:
  /// "line 2, column 5: this is not JSON: ..."
  std::string what() const { return what_; }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    const std::string text = error.what();  // "[json.exception...] parse error at line 2, column 5: ..."
    const std::size_t place = text.find("line "), end = text.find(": ", place);
    const bool placed = place != std::string::npos && end != std::string::npos;
    what_ = placed ? text.substr(place, end - place) + ": this is not JSON: " + text.substr(end + 2)
                   : "this is not JSON: " + text.substr(text.find("] ") + 2);
    return false;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }

 private:
  std::string what_;
};

/// The library neither recurses while it reads nor while it frees a value, so nesting has no limit.
Result<Json> read_json(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  Complaint complaint;
  Json::sax_parse(text, &complaint);
  return Error{ErrorCode::configuration_invalid, complaint.what(),
               "the file may have been cut or edited by hand"};
}

/// Null when it is no object or has no such member.
const Json& member(const Json& value, const char* name) {
  static const Json nothing;
  if (!value.is_object()) return nothing;
  const auto found = value.find(name);
  return found == value.end() ? nothing : *found;
}
/// Empty when it is no array.
const Json& items(const Json& value) {
  static const Json nothing = Json::array();
  return value.is_array() ? value : nothing;
}
std::string text_or(const Json& value, std::string otherwise) {
  return value.is_string() ? value.get<std::string>() : std::move(otherwise);
}

// ---- The format

/// `mProject_ID0000001` and `NFCORE.FASTQC_2` are of the classes mProject and NFCORE.FASTQC.
std::string class_of(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  if (end == name.size()) return name;
  if (end >= 2 && name.compare(end - 2, 2, "ID") == 0) end -= 2;
  return end >= 2 && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

/// Some writers put numbers between quotes. Such text counts as a number; other text is an error of the file.
Result<double> number(const Json& value, double otherwise, const char* what) {
  if (!value.is_string()) return value.is_number() ? value.get<double>() : otherwise;
  const auto text = value.get<std::string>();
  const auto read = number_in(text);
  if (!read) return wrong(std::string(what) + " is '" + text + "', which is no number");
  return *read;
}

Result<std::uint64_t> bytes(const Json& value, const char* what) {
  const auto read = number(value, 0, what);
  if (!read) return read.error();
  return *read > 0 && *read < 0x1.0p63 ? static_cast<std::uint64_t>(*read) : std::uint64_t{0};
}

/// The first of two members that is there.
const Json& either(const Json& object, const char* name, const char* older_name) {
  const Json& value = member(object, name);
  return value.is_null() ? member(object, older_name) : value;
}

/// Measured values of a task; the names of members changed between versions.
Status read_measurements(const Json& value, WorkflowTask& task) {
  const auto seconds = number(either(value, "runtimeInSeconds", "runtime"),
                              static_cast<double>(task.takes.count()) / 1e9, "a runtime");
  if (!seconds) return seconds.error();
  if (!(*seconds >= 0) || *seconds > 1e9)
    return wrong("task '" + task.id + "' has the runtime " + std::to_string(*seconds) + " s");
  task.takes = Duration(std::llround(*seconds * 1e9));
  const auto cpus = number(either(value, "coreCount", "cores"), task.cpus, "a number of cores");
  if (!cpus) return cpus.error();
  task.cpus = std::max(1.0, *cpus);
  const auto memory = bytes(member(value, "memoryInBytes"), "a size of memory");
  if (!memory) return memory.error();
  if (*memory > 0) task.memory_bytes = *memory;
  const Json& command = member(value, "command");
  task.program = text_or(member(command, "program"), std::move(task.program));
  for (const Json& argument : items(member(command, "arguments")))
    task.arguments.push_back(text_or(argument, ""));
  return Done{};
}

class WfCommonsReader {
 public:
  Result<Workflow> read(const Json& root) {
    const Json& all = member(root, "workflow");
    const Json& specification = member(all, "specification");
    const bool parted = !specification.is_null();  // 1.5
    const Json& tasks = parted                           ? member(specification, "tasks")
                        : member(all, "tasks").is_null() ? member(all, "jobs")
                                                         : member(all, "tasks");
    if (!tasks.is_array()) return wrong("there is no list of tasks under `workflow`");
    workflow_.name = text_or(member(root, "name"), "workflow");
    for (const Json& file : items(member(specification, "files"))) {
      const auto size = bytes(member(file, "sizeInBytes"), "the size of a file");
      if (!size) return size.error();
      file_bytes_[text_or(member(file, "id"), "")] = *size;
    }
    for (const Json& value : items(tasks)) {
      if (Status status = add_task(value); !status) return status.error();
    }
    if (parted) {
      for (const Json& value : items(member(member(all, "execution"), "tasks"))) {
        const std::string id = text_or(member(value, "id"), "");
        const auto task = index_.find(id);
        if (task == index_.end())
          return wrong("`execution` has a task '" + id + "' that `specification` has not");
        if (Status status = read_measurements(value, workflow_.tasks[task->second]); !status)
          return status.error();
      }
    }
    auto edges = links_.edges();
    if (!edges) return edges.error();
    workflow_.edges = std::move(edges).value();
    return std::move(workflow_);
  }

 private:
  Status add_task(const Json& value) {
    WorkflowTask task;
    const std::string name = text_or(member(value, "name"), "");
    task.id = text_or(member(value, "id"), name);
    if (task.id.empty()) return wrong("a task has neither id nor name");
    if (workflow_.tasks.size() >= limits::tasks_max) return wrong("there are too many tasks");
    task.name = text_or(member(value, "category"), class_of(name.empty() ? task.id : name));
    const auto index = static_cast<std::uint32_t>(workflow_.tasks.size());
    if (!links_.add_task(task.id, index)) return wrong("two tasks are called '" + task.id + "'");
    index_[task.id] = index;
    // Up to 1.4 relations name tasks by `name`, and `id` is a short form.
    if (!name.empty() && name != task.id) links_.add_name(name, index);
    for (const Json& parent : items(member(value, "parents")))
      links_.add_dependency(text_or(parent, ""), task.id);
    for (const Json& child : items(member(value, "children")))
      links_.add_dependency(task.id, text_or(child, ""));
    for (const Json& file : items(member(value, "inputFiles"))) links_.add_input(index, text_or(file, ""));
    for (const Json& file : items(member(value, "outputFiles"))) {
      const std::string id = text_or(file, "");
      const auto size = file_bytes_.find(id);
      links_.add_output(index, id, size == file_bytes_.end() ? 0 : size->second);
    }
    for (const Json& file : items(member(value, "files"))) {  // up to 1.4
      const std::string id = text_or(member(file, "name"), "");
      if (text_or(member(file, "link"), "") == "output") {
        const auto size = bytes(either(file, "sizeInBytes", "size"), "the size of a file");
        if (!size) return size.error();
        links_.add_output(index, id, *size);
      } else {
        links_.add_input(index, id);
      }
    }
    if (Status status = read_measurements(value, task); !status) return status;
    workflow_.tasks.push_back(std::move(task));
    return Done{};
  }

  Workflow workflow_;
  WorkflowLinks links_;
  std::map<std::string, std::uint32_t> index_;
  std::map<std::string, std::uint64_t> file_bytes_;
};

}  // namespace

Result<Workflow> read_wfcommons(std::string_view text) {
  const Result<Json> root = read_json(text);
  if (!root) return root.error();
  return WfCommonsReader().read(*root);
}

}  // namespace dag
