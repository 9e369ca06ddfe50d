#include "libdag/wire/code_map.hpp"

#include <link.h>

#include <algorithm>
#include <limits>

namespace dag::wire {
namespace {

/// Extent of the module's code: from the beginning of its first executable segment to the end of its last.
/// Only addresses in there are ever called.
CodeMap::Module extent_of(const dl_phdr_info& module) {
  std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max(), end = 0;
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    begin = std::min<std::uintptr_t>(begin, module.dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, module.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return {begin, end > begin ? end - begin : 0};
}

bool holds(const CodeMap::Module& module, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  return address >= module.begin && address - module.begin < module.size_bytes;
}

std::vector<CodeMap::Module> find_modules() {
  std::vector<CodeMap::Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        auto& found = *static_cast<std::vector<CodeMap::Module>*>(into);
        const CodeMap::Module module = extent_of(*info);
        // The program itself comes first.
        if (found.empty() || holds(module, reinterpret_cast<const void*>(&find_modules)))
          found.push_back(module);
        return 0;
      },
      &modules);
  return modules;
}

}  // namespace

const CodeMap& CodeMap::of_this_process() {
  static const CodeMap map(find_modules());
  return map;
}

std::optional<CodePlace> CodeMap::place_of(const void* code) const {
  if (code == nullptr) return CodePlace{};
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    if (!holds(modules_[i], code)) continue;
    return CodePlace{static_cast<std::uint16_t>(i + 1),
                     reinterpret_cast<std::uintptr_t>(code) - modules_[i].begin};
  }
  return std::nullopt;
}

std::optional<const void*> CodeMap::code_at(CodePlace place) const {
  if (place == CodePlace{}) return nullptr;
  if (place.module == 0 || place.module > modules_.size()) return std::nullopt;
  const Module& module = modules_[place.module - 1u];
  if (place.offset >= module.size_bytes) return std::nullopt;
  return reinterpret_cast<const void*>(module.begin + place.offset);
}

}  // namespace dag::wire
