#include "dag/detail/publish.hpp"

#include "dag/context.hpp"

namespace dag::detail {
namespace {

/// Kernel of rows that publish: the only argument is packed by pack(), the result is the first kernel's.
void publish(Call& call) {
  for (const StagedFile& file : unpack(call.arguments[0].values[0], call.result))
    call.context->publish(file.path, file.bytes);
}

void append(Writer& writer, std::span<const std::byte> bytes) {
  writer.count(bytes.size());
  writer.append(bytes.data(), bytes.size());
}

}  // namespace

Blob pack(const std::vector<StagedFile>& files, const Blob& value) {
  Writer writer;
  writer.count(value ? 1 : 0);
  if (value) append(writer, value.bytes());
  writer.count(files.size());
  for (const StagedFile& file : files) {
    append(writer, std::as_bytes(std::span(file.path)));
    append(writer, file.bytes.bytes());
  }
  return Blob(writer.bytes());
}

std::vector<StagedFile> unpack(const Blob& packed, Blob& value) {
  Reader reader(packed.bytes());
  if (reader.count(0) != 0) value = Blob(reader.take(reader.count()));
  std::vector<StagedFile> files(reader.count(2 * sizeof(std::uint64_t)));
  for (StagedFile& file : files) {
    const auto path = reader.take(reader.count());
    file.path.assign(reinterpret_cast<const char*>(path.data()), path.size());
    file.bytes = Blob(reader.take(reader.count()));
  }
  return files;
}

Code publisher() { return {reinterpret_cast<const void*>(static_cast<Thunk>(&publish)), nullptr}; }

}  // namespace dag::detail
