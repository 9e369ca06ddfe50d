#include "libdag/base/ids.hpp"

#include <charconv>

#include "libdag/base/spawned.hpp"

namespace dag {
namespace {

template <class Number = std::uint32_t>
std::optional<Number> number(std::string_view digits) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(JobId id) {
  const std::string count = std::to_string(id.count());
  return "job" + (id.node() == 0 ? count : std::to_string(id.node()) + "." + count);
}

std::string to_string(TaskId id) {
  if (id.origin == 0) return std::to_string(id.index);
  const std::uint64_t index = std::uint64_t{turn_of_origin(id.origin)} << 32 | id.index;
  return "s" + std::to_string(shard_of_origin(id.origin)) + "/" + std::to_string(index);
}

std::string to_string(ProcessId id) {
  const std::uint32_t node = id.value & 0xFFFF, count = id.value >> 16;
  if (node == 0xFFFF) return "client" + std::to_string(count);
  return "n" + std::to_string(node) + (count == 0 ? "" : "/w" + std::to_string(count));
}

std::string to_string(Life life) {
  return to_string(life.process) + "." + std::to_string(life.incarnation.value);
}

std::string to_string(Epoch epoch) { return std::to_string(epoch.term) + "." + std::to_string(epoch.count); }

std::string to_string(AttemptId id) { return "#" + to_string(id.epoch) + "." + std::to_string(id.number); }

std::optional<JobId> parse_job_id(std::string_view text) {
  if (text.starts_with("job")) text.remove_prefix(3);
  const auto dot = text.find('.');
  const auto node = dot == std::string_view::npos ? 0 : number(text.substr(0, dot));
  const auto count = number(dot == std::string_view::npos ? text : text.substr(dot + 1));
  if (!node || !count) return std::nullopt;
  return JobId{std::uint64_t{*node} << 32 | *count};
}

std::optional<TaskId> parse_task_id(std::string_view text) {
  if (!text.starts_with("s")) {
    const auto index = number(text);
    return index ? std::optional(TaskId{0, *index}) : std::nullopt;
  }
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto shard = number(text.substr(1, slash - 1));
  const auto index = number<std::uint64_t>(text.substr(slash + 1));
  if (!shard || *shard >= limits::shards_max || !index || *index >> 32 >= origins_per_shard)
    return std::nullopt;
  const auto turn = static_cast<std::uint32_t>(*index >> 32);
  return TaskId{turn * limits::shards_max + *shard + 1, static_cast<std::uint32_t>(*index)};
}

std::optional<AttemptId> parse_attempt_id(std::string_view text) {
  const auto first = text.find('.'), last = text.rfind('.');
  if (!text.starts_with("#") || first == last) return std::nullopt;
  const auto term = number(text.substr(1, first - 1));
  const auto count = number(text.substr(first + 1, last - first - 1));
  const auto which = number(text.substr(last + 1));
  if (!term || !count || !which) return std::nullopt;
  return AttemptId{{*term, *count}, *which};
}

}  // namespace dag
