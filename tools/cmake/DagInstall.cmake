# What `cmake --install` gives: the public headers, libdag.so, and what find_package(dag) and pkg-config need.
install(TARGETS dag EXPORT dagTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/libdag/include/dag DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
