# What `cmake --install` gives: the public headers, libdag.so, the programs, and what find_package(dag) and
# pkg-config need. Nothing of it names CAF, ZeroMQ or Cap'n Proto: libdag.so loads them, its users never see them.
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dag)

install(TARGETS dag LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/libdag/include/dag DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${CMAKE_SOURCE_DIR}/tools/cmake/dagConfig.cmake.in ${CMAKE_BINARY_DIR}/dagConfig.cmake
  INSTALL_DESTINATION ${cmake_folder} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dagConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dagConfig.cmake ${CMAKE_BINARY_DIR}/dagConfigVersion.cmake DESTINATION ${cmake_folder})

# Paths in dag.pc start at the file itself, so the installed tree can be moved.
file(RELATIVE_PATH DAG_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/tools/cmake/dag.pc.in ${CMAKE_BINARY_DIR}/dag.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dag.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# dag_install_programs(target...): those of them that exist. They find libdag.so beside themselves.
function(dag_install_programs)
  file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  foreach(program ${ARGN})
    if(TARGET ${program})
      set_target_properties(${program} PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
      install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
  endforeach()
endfunction()
