#include "libdag/workflows/workflow_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dag {

Result<std::string> read_text_file(const std::string& path) {
  constexpr std::uintmax_t size_max = 1u << 30;
  std::error_code error;
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::usage, "cannot read '" + path + "': " + why, "give the path of a readable file"};
  };
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return refused("it does not exist");
  if (!std::filesystem::is_regular_file(status)) return refused("it is not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return refused(error.message());
  if (size > size_max) return refused("it has more than 1 GiB");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size)))
    return refused(errno == 0 ? "it ended early" : std::strerror(errno));
  return text;
}

Result<Workflow> workflow_in(const std::string& path, const std::string& text) {
  auto workflow = read_workflow(text);
  if (workflow) return workflow;
  Error error = workflow.error();
  error.what = path + ": " + error.what;
  return error;
}

}  // namespace dag
