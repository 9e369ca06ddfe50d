// Nothing but Catch2's header, to hold its precompiled form: catch_main.cpp cannot, it includes more of it.
#include <catch2/catch.hpp>
