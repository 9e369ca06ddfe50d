// Reads Pegasus DAX: <job id name runtime> with <uses file link size>, then <child ref> with <parent ref>. Of
// XML it reads tags and attributes; text between them means nothing here. Only the tags' order is checked,
// and nothing is ever expanded or fetched.

#include <charconv>
#include <cmath>
#include <optional>

#include "libdag/base/limits.hpp"
#include "libdag/graph/text.hpp"
#include "libdag/workflows/workflow.hpp"
#include "libdag/workflows/workflow_links.hpp"

namespace dag {
namespace {

struct Tag {
  std::string name;  ///< with a leading / when it closes; empty at the end of the text
  std::map<std::string, std::string> attributes = {};

  std::string attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

class Tags {
 public:
  explicit Tags(std::string_view text) : text_(text) {}

  /// The next tag; comments, declarations and processing instructions are passed over.
  Result<Tag> next() {
    for (;;) {
      at_ = text_.find('<', at_);
      if (at_ == std::string_view::npos) return Tag{};
      if (text_.substr(at_, 4) == "<!--") {
        if (!skip_past("-->")) return error("a comment does not end");
      } else if (text_.substr(at_, 9) == "<![CDATA[") {
        if (!skip_past("]]>")) return error("a CDATA section does not end");
      } else if (text_.substr(at_, 2) == "<?") {
        if (!skip_past("?>")) return error("a processing instruction does not end");
      } else if (text_.substr(at_, 2) == "<!") {
        if (!skip_past(">")) return error("a declaration does not end");
      } else {
        return read_tag();
      }
    }
  }

  Error error(std::string what) const {
    std::size_t line = 1;
    for (const char c : text_.substr(0, std::min(at_, text_.size()))) line += c == '\n' ? 1 : 0;
    return {ErrorCode::configuration_invalid,
            "line " + std::to_string(line) + " of the DAX: " + std::move(what),
            "this should be a Pegasus DAX, version 2 or 3"};
  }

 private:
  bool skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + end.size();
    return true;
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string take_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           std::string_view("=/><\"'").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Tag> read_tag() {
    ++at_;
    Tag tag;
    if (take('/')) tag.name = "/";
    tag.name += take_name();
    for (;;) {
      skip_space();
      if (take('>')) return tag;
      if (take('/')) continue;  // of a tag without content
      const std::string key = take_name();
      skip_space();
      if (key.empty() || !take('=')) return error("the tag <" + tag.name + "> cannot be read");
      skip_space();
      const char quote = at_ < text_.size() ? text_[at_] : '\0';
      const std::size_t end =
          quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
      if (end == std::string_view::npos)
        return error("the value of " + key + " in <" + tag.name + "> does not end");
      tag.attributes[key] = unescaped(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
    }
  }

  static std::string unescaped(std::string_view text) {
    static const std::map<std::string_view, char> entities{
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t end = text[at] == '&' ? text.find(';', at) : std::string_view::npos;
      const std::string_view name =
          end == std::string_view::npos ? std::string_view{} : text.substr(at + 1, end - at - 1);
      const auto known = entities.find(name);
      if (known != entities.end()) {
        result += known->second;
      } else if (!append_numbered(result, name)) {
        result += text[at];
        continue;
      }
      at = end;
    }
    return result;
  }

  /// `#233` and `#xe9` are the character with that number.
  static bool append_numbered(std::string& result, std::string_view name) {
    if (!name.starts_with('#')) return false;
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x');
    if (hexadecimal) name.remove_prefix(1);
    std::uint32_t code = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, code, hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end || !is_unicode(code) || code == 0) return false;
    append_utf8(result, code);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// A number from 0 to `largest`; an absent one is 0.
std::optional<double> number(const std::string& text, double largest) {
  if (text.empty()) return 0;
  const auto value = number_in(text);
  return value && *value >= 0 && *value <= largest ? value : std::nullopt;
}

class DaxReader {
 public:
  explicit DaxReader(std::string_view text) : tags_(text) {}

  Result<Workflow> read() {
    bool inside = false;
    std::string child;
    for (;;) {
      const Result<Tag> next = tags_.next();
      if (!next) return next.error();
      const Tag& tag = *next;
      if (tag.name.empty() || tag.name == "/adag") break;
      if (tag.name == "adag") {
        inside = true;
        workflow_.name = tag.attribute("name").empty() ? "dax" : tag.attribute("name");
      } else if (!inside) {
        return tags_.error("it begins with <" + tag.name + ">, not with <adag>");
      } else if (tag.name == "job" || tag.name == "dag" ||
                 tag.name == "dax") {  // A workflow within is a job.
        if (Status status = add_job(tag); !status) return status.error();
      } else if (tag.name == "uses" && !workflow_.tasks.empty()) {
        if (Status status = add_file(tag); !status) return status.error();
      } else if (tag.name == "child") {
        child = tag.attribute("ref");
      } else if (tag.name == "parent") {
        links_.add_dependency(tag.attribute("ref"), child);
      }
    }
    if (!inside) return tags_.error("there is no <adag>");
    auto edges = links_.edges();
    if (!edges) return edges.error();
    workflow_.edges = std::move(edges).value();
    return std::move(workflow_);
  }

 private:
  Status add_job(const Tag& tag) {
    WorkflowTask task;
    task.id = tag.attribute("id");
    task.name = tag.attribute("name");
    task.program = task.name;
    const auto seconds = number(tag.attribute("runtime"), 1e9);
    if (task.id.empty()) return tags_.error("a job has no id");
    if (!seconds)
      return tags_.error("job '" + task.id + "' has the runtime '" + tag.attribute("runtime") + "'");
    if (workflow_.tasks.size() >= limits::tasks_max) return tags_.error("there are too many jobs");
    task.takes = Duration(std::llround(*seconds * 1e9));
    if (!links_.add_task(task.id, static_cast<std::uint32_t>(workflow_.tasks.size()))) {
      return tags_.error("two jobs are called '" + task.id + "'");
    }
    workflow_.tasks.push_back(std::move(task));
    return Done{};
  }

  Status add_file(const Tag& tag) {
    const auto job = static_cast<std::uint32_t>(workflow_.tasks.size() - 1);
    const std::string file = tag.attribute("file").empty() ? tag.attribute("name") : tag.attribute("file");
    const std::string link = tag.attribute("link");
    const auto size = number(tag.attribute("size"), 0x1.0p62);
    if (!size) return tags_.error("file '" + file + "' has the size '" + tag.attribute("size") + "'");
    if (link == "output" || link == "inout") links_.add_output(job, file, static_cast<std::uint64_t>(*size));
    if (link == "input" || link == "inout") links_.add_input(job, file);
    return Done{};
  }

  Tags tags_;
  Workflow workflow_;
  WorkflowLinks links_;
};

}  // namespace

Result<Workflow> read_dax(std::string_view text) { return DaxReader(text).read(); }

}  // namespace dag
