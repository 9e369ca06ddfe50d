#include "tools/sim/shrink.hpp"

#include <algorithm>
#include <cctype>

#include "tools/sim/number.hpp"

namespace dag::sim {
namespace {

std::string kind(const std::string& violation) {
  std::string kind = violation.substr(0, violation.find('\n'));
  std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
  return kind;
}

}  // namespace

std::string to_string(const Case& about) {
  std::string text = std::to_string(about.seed);
  for (const std::string& part : about.without) text += "-" + part;
  if (about.tasks_max > 0) text += "<" + std::to_string(about.tasks_max);
  return text;
}

std::optional<Case> parse_case(std::string_view text, const PartNames& parts) {
  Case about;
  if (const std::size_t less = text.find('<'); less != text.npos) {
    if (!parse(text.substr(less + 1), about.tasks_max) || about.tasks_max == 0) return std::nullopt;
    text = text.substr(0, less);
  }
  const std::size_t seed_end = std::min(text.find('-'), text.size());
  if (!parse(text.substr(0, seed_end), about.seed)) return std::nullopt;
  for (text.remove_prefix(seed_end); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('-'), text.size());
    const std::string name(text.substr(0, end));
    if (std::find(parts.begin(), parts.end(), name) == parts.end()) return std::nullopt;
    about.without.insert(name);
    text.remove_prefix(end);
  }
  return about;
}

Case shrink(const Case& failing, const PartNames& parts, const std::function<ChaosResult(const Case&)>& run) {
  const std::string wanted = kind(run(failing).violation);
  const auto still = [&](const Case& one) { return kind(run(one).violation) == wanted; };
  Case smallest = failing;
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const std::string& part : parts) {
      Case less = smallest;
      if (!less.without.insert(part).second || !still(less)) continue;
      smallest = less;
      shrunk = true;
    }
    const std::uint32_t tasks_now = smallest.tasks_max == 0 ? 100 : smallest.tasks_max;
    for (std::uint32_t tasks = 1; tasks < tasks_now; ++tasks) {
      Case less = smallest;
      less.tasks_max = tasks;
      if (!still(less)) continue;
      smallest = less;
      shrunk = true;
      break;
    }
  }
  return smallest;
}

}  // namespace dag::sim
