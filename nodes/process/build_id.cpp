#include "nodes/process/build_id.hpp"

#include <elf.h>
#include <link.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace dag {
namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  std::string digits;
  for (std::size_t i = 0; i < count; ++i) {
    digits += "0123456789abcdef"[bytes[i] >> 4];
    digits += "0123456789abcdef"[bytes[i] & 15];
  }
  return digits;
}

/// The note NT_GNU_BUILD_ID of a loaded module; empty when it has none.
std::string build_id(const dl_phdr_info& module) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(module.dlpi_addr + segment.p_vaddr);
    std::size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= segment.p_memsz) {
      ElfW(Nhdr) note;
      std::memcpy(&note, notes + at, sizeof note);
      const std::size_t name = at + sizeof note;
      const std::size_t content = name + padded(note.n_namesz);
      at = content + padded(note.n_descsz);
      if (at > segment.p_memsz) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
        return hex_of(notes + content, note.n_descsz);
      }
    }
  }
  return {};
}

bool holds(const dl_phdr_info& module, const void* address) {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    const ElfW(Addr) begin = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && wanted >= begin && wanted < begin + segment.p_memsz) return true;
  }
  return false;
}

std::string checksum_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  XXH64_state_t* state = XXH64_createState();
  XXH64_reset(state, 0);
  std::vector<char> buffer(1 << 16);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    XXH64_update(state, buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  XXH64_canonical_t sum;
  XXH64_canonicalFromHash(&sum, XXH64_digest(state));
  XXH64_freeState(state);
  return "x" + hex_of(sum.digest, sizeof sum.digest);
}

}  // namespace

std::string build_of_this_process() {
  struct Found {
    std::string program;
    std::string library;  ///< empty when libdag is part of the program
    int seen = 0;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* into) {
        auto& result = *static_cast<Found*>(into);
        const bool first = result.seen++ == 0;  // The program itself comes first.
        if (first) result.program = build_id(*module);
        if (!first && holds(*module, reinterpret_cast<const void*>(&build_of_this_process))) {
          result.library = build_id(*module);
        }
        return 0;
      },
      &found);
  if (found.program.empty()) found.program = checksum_of_program();
  return found.library.empty() ? found.program : found.program + "+" + found.library;
}

}  // namespace dag
