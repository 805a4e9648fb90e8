# What `cmake --install` gives a user: libfuselet.so, the headers, and a package for
# find_package(fuselet). Headers keep the paths they are included by: the public header as
# <fuselet/fuselet.h>, the rest as "core/tensor.h" below include/fuselet.

include(CMakePackageConfigHelpers)
set(FUSELET_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fuselet)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/fuselet)

if(SKBUILD)
  return()
endif()

install(TARGETS fuselet EXPORT fuselet_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The simulated device lies beside libfuselet.so, which opens it by name.
if(TARGET fuselet_cuda_sim)
  install(TARGETS fuselet_cuda_sim LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT fuselet_targets NAMESPACE fuselet:: DESTINATION ${FUSELET_PACKAGE_DIR}
  FILE fuseletTargets.cmake)

foreach(folder core autograd compiler)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${include_dir}/${folder}
      FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
  endif()
endforeach()
file(GLOB backend_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/*.h)
install(FILES ${backend_headers} DESTINATION ${include_dir}/backends)
# What <fuselet/cuda.h> includes.
foreach(folder driver device streams memory)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/backends/cuda/${folder}/ DESTINATION ${include_dir}/backends/cuda/${folder}
    FILES_MATCHING PATTERN "*.h")
endforeach()
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/cpp/fuselet)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/cpp/fuselet/ DESTINATION ${include_dir}
    FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/cpp/ DESTINATION ${include_dir}/frontend/cpp
    FILES_MATCHING PATTERN "*.h" PATTERN "fuselet" EXCLUDE)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/ DESTINATION ${include_dir}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "frontend/python" EXCLUDE)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fuseletConfig.cmake.in
  ${CMAKE_BINARY_DIR}/fuseletConfig.cmake INSTALL_DESTINATION ${FUSELET_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/fuseletConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/fuseletConfig.cmake
  ${CMAKE_BINARY_DIR}/fuseletConfigVersion.cmake DESTINATION ${FUSELET_PACKAGE_DIR})
