// The one main() of every test program. Compiled once: Catch2's own part takes longer than most tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
