// Reads WfFormat (github.com/wfcommons/WfFormat). 1.3 and 1.4 keep all of a task in one object under
// `workflow`; 1.5 separates requests (`specification`) from measurements (`execution`), joined by the task's
// id.

#include <cctype>
#include <cmath>

#include "libdag/base/limits.hpp"
#include "libdag/graph/text.hpp"
#include "libdag/workflows/json_reader.hpp"
#include "libdag/workflows/workflow.hpp"
#include "libdag/workflows/workflow_links.hpp"

namespace dag {
namespace {

Error wrong(std::string what) {
  return {ErrorCode::configuration_invalid, std::move(what),
          "this should be an instance in WfFormat 1.3 to 1.5, as wfcommons.org publishes them"};
}

/// `mProject_ID0000001` and `NFCORE.FASTQC_2` are of the classes mProject and NFCORE.FASTQC.
std::string class_of(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  if (end == name.size()) return name;
  if (end >= 2 && name.compare(end - 2, 2, "ID") == 0) end -= 2;
  return end >= 2 && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

/// Some writers put numbers between quotes. Such text counts as a number; other text is an error of the file.
Result<double> number(const JsonValue& value, double otherwise, const char* what) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) return value.number_or(otherwise);
  const auto read = number_in(*text);
  if (!read) return wrong(std::string(what) + " is '" + *text + "', which is no number");
  return *read;
}

Result<std::uint64_t> bytes(const JsonValue& value, const char* what) {
  const auto read = number(value, 0, what);
  if (!read) return read.error();
  return *read > 0 && *read < 0x1.0p63 ? static_cast<std::uint64_t>(*read) : std::uint64_t{0};
}

/// The first of two members that is there.
const JsonValue& either(const JsonValue& object, const char* name, const char* older_name) {
  const JsonValue& value = object[name];
  return value.is_null() ? object[older_name] : value;
}

/// Measured values of a task; the names of members changed between versions.
Status read_measurements(const JsonValue& value, WorkflowTask& task) {
  const auto seconds = number(either(value, "runtimeInSeconds", "runtime"),
                              static_cast<double>(task.takes.count()) / 1e9, "a runtime");
  if (!seconds) return seconds.error();
  if (!(*seconds >= 0) || *seconds > 1e9)
    return wrong("task '" + task.id + "' has the runtime " + std::to_string(*seconds) + " s");
  task.takes = Duration(std::llround(*seconds * 1e9));
  const auto cpus = number(either(value, "coreCount", "cores"), task.cpus, "a number of cores");
  if (!cpus) return cpus.error();
  task.cpus = std::max(1.0, *cpus);
  const auto memory = bytes(value["memoryInBytes"], "a size of memory");
  if (!memory) return memory.error();
  if (*memory > 0) task.memory_bytes = *memory;
  const JsonValue& command = value["command"];
  task.program = command["program"].text_or(std::move(task.program));
  for (const JsonValue& argument : command["arguments"].items())
    task.arguments.push_back(argument.text_or(""));
  return Done{};
}

class WfCommonsReader {
 public:
  Result<Workflow> read(const JsonValue& root) {
    const JsonValue& all = root["workflow"];
    const JsonValue& specification = all["specification"];
    const bool parted = !specification.is_null();  // 1.5
    const JsonValue& tasks = parted                   ? specification["tasks"]
                             : all["tasks"].is_null() ? all["jobs"]
                                                      : all["tasks"];
    if (tasks.as<JsonValue::Array>() == nullptr) return wrong("there is no list of tasks under `workflow`");
    workflow_.name = root["name"].text_or("workflow");
    for (const JsonValue& file : specification["files"].items()) {
      const auto size = bytes(file["sizeInBytes"], "the size of a file");
      if (!size) return size.error();
      file_bytes_[file["id"].text_or("")] = *size;
    }
    for (const JsonValue& value : tasks.items()) {
      if (Status status = add_task(value); !status) return status.error();
    }
    if (parted) {
      for (const JsonValue& value : all["execution"]["tasks"].items()) {
        const std::string id = value["id"].text_or("");
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
  Status add_task(const JsonValue& value) {
    WorkflowTask task;
    const std::string name = value["name"].text_or("");
    task.id = value["id"].text_or(name);
    if (task.id.empty()) return wrong("a task has neither id nor name");
    if (workflow_.tasks.size() >= limits::tasks_max) return wrong("there are too many tasks");
    task.name = value["category"].text_or(class_of(name.empty() ? task.id : name));
    const auto index = static_cast<std::uint32_t>(workflow_.tasks.size());
    if (!links_.add_task(task.id, index)) return wrong("two tasks are called '" + task.id + "'");
    index_[task.id] = index;
    // Up to 1.4 relations name tasks by `name`, and `id` is a short form.
    if (!name.empty() && name != task.id) links_.add_name(name, index);
    for (const JsonValue& parent : value["parents"].items())
      links_.add_dependency(parent.text_or(""), task.id);
    for (const JsonValue& child : value["children"].items())
      links_.add_dependency(task.id, child.text_or(""));
    for (const JsonValue& file : value["inputFiles"].items()) links_.add_input(index, file.text_or(""));
    for (const JsonValue& file : value["outputFiles"].items()) {
      const std::string id = file.text_or("");
      const auto size = file_bytes_.find(id);
      links_.add_output(index, id, size == file_bytes_.end() ? 0 : size->second);
    }
    for (const JsonValue& file : value["files"].items()) {  // up to 1.4
      const std::string id = file["name"].text_or("");
      if (file["link"].text_or("") == "output") {
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
  const Result<JsonValue> root = read_json(text);
  if (!root) return root.error();
  return WfCommonsReader().read(*root);
}

}  // namespace dag
