#include "libdag/warden/run.hpp"

int main(int argc, char** argv) { return dag::warden_detail::run(argc, argv); }
