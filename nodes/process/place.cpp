#include "nodes/process/place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace dag {
namespace {

std::optional<std::string_view> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

template <class Number>
std::optional<Number> number_said(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error bad(std::string_view name, std::string_view value, std::string_view wanted) {
  return {ErrorCode::configuration_invalid,
          std::string(name) + " is '" + std::string(value) + "', but must be " + std::string(wanted),
          "`dag run -n N JOB` sets DAG_RANK, DAG_SIZE and DAG_PEERS; unset all three to run in one process"};
}

}  // namespace

Result<std::optional<Place>> place_from_environment() {
  const auto rank = variable("DAG_RANK");
  const auto size = variable("DAG_SIZE");
  if (!rank && !size) return std::optional<Place>{};
  Place place;
  const auto size_read = number_said<std::uint32_t>(size.value_or(""));
  if (!size_read || *size_read == 0 || *size_read > 1024) {
    return bad("DAG_SIZE", size.value_or(""), "a number from 1 to 1024");
  }
  place.size = *size_read;
  const auto rank_read = number_said<std::uint32_t>(rank.value_or(""));
  if (!rank_read || *rank_read >= place.size) {
    return bad("DAG_RANK", rank.value_or(""), "a number below DAG_SIZE, " + std::to_string(place.size));
  }
  place.rank = *rank_read;
  if (place.size == 1) return std::optional<Place>{};
  const auto peers = variable("DAG_PEERS");
  const auto address = net::parse_address(peers.value_or(""));
  if (!address) return bad("DAG_PEERS", peers.value_or(""), "the address of process 0, HOST:PORT");
  place.first = *address;
  if (const auto cluster = variable("DAG_CLUSTER")) {
    const auto read = number_said<std::uint64_t>(*cluster, 16);
    if (!read) return bad("DAG_CLUSTER", *cluster, "up to 16 hexadecimal digits");
    place.cluster = {*read};
  }
  const auto open_file = [](const char* name, mode_t kind, const char* wanted,
                            int& into) -> std::optional<Error> {
    const auto file = variable(name);
    if (!file) return std::nullopt;
    const auto read = number_said<int>(*file);
    struct stat what {};
    if (!read || fstat(*read, &what) != 0 || (what.st_mode & S_IFMT) != kind) return bad(name, *file, wanted);
    fcntl(*read, F_SETFD, FD_CLOEXEC);  // Not for what this process starts.
    into = *read;
    return std::nullopt;
  };
  if (place.rank == 0) {
    if (const auto wrong = open_file("DAG_GATHERED", S_IFIFO,
                                     "the number of an open pipe, as `dag run` sets it", place.gathered))
      return *wrong;
  }
  if (const auto wrong = open_file("DAG_RUNNING", S_IFREG, "the number of an open file, as `dag run` sets it",
                                   place.running))
    return *wrong;
  return std::optional<Place>{place};
}

void say_gathered(const Place& place) {
  if (place.gathered < 0) return;
  // A launcher that is gone ends this process by other means.
  if (write(place.gathered, "", 1) != 1) return;
}

}  // namespace dag
