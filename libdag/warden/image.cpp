#include "libdag/warden/image.hpp"

asm(".pushsection .rodata\n"
    ".balign 16\n"
    "dag_warden_image_begins: .incbin \"" DAG_WARDEN_PROGRAM
    "\"\n"
    "dag_warden_image_ends:\n"
    ".popsection\n");

extern "C" {
extern const std::byte dag_warden_image_begins[] __attribute__((visibility("hidden")));
extern const std::byte dag_warden_image_ends[] __attribute__((visibility("hidden")));
}

namespace dag::warden_detail {

std::span<const std::byte> image() { return {dag_warden_image_begins, dag_warden_image_ends}; }

}  // namespace dag::warden_detail
