# libfuselet.so, assembled from one object library a folder.

set(FUSELET_PARTS "")

# fuselet_part(NAME FOLDER SOURCE...): object library NAME of the sources of FOLDER and the
# sources generated for it. A folder without sources makes no target.
function(fuselet_part name folder)
  fuselet_generated_sources(generated ${folder})
  set(sources ${ARGN} ${generated})
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE fuselet_settings)
  # Calls inside the library bind to the library's own, identically compiled, functions.
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  # Lines of the library are told from the user's by this prefix (core/dispatch_state.h).
  target_compile_options(${name} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=fuselet:)
  add_dependencies(${name} fuselet_generate)
  # Nearly every source includes the operators; parsing them once saves a second and a half a source.
  if(name STREQUAL fuselet_core)
    target_precompile_headers(${name} PRIVATE
      ${CMAKE_BINARY_DIR}/generated/core/ops/functions.h <unordered_map> <algorithm> <cmath>)
  else()
    target_precompile_headers(${name} REUSE_FROM fuselet_core)
  endif()
  set(FUSELET_PARTS ${FUSELET_PARTS} ${name} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*.cpp)
file(GLOB_RECURSE autograd_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/autograd/*.cpp)
file(GLOB_RECURSE compiler_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/*.cpp)
file(GLOB_RECURSE cpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/cpu/*.cpp)
file(GLOB codegen_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/codegen/*.cpp)
file(GLOB jit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/jit/*.cpp)
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/cuda/*.cpp)
file(GLOB_RECURSE reference_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/backends/reference/*.cpp)
file(GLOB backends_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/*.cpp)
file(GLOB_RECURSE frontend_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/frontend/cpp/*.cpp)

fuselet_part(fuselet_core core ${core_sources})
fuselet_part(fuselet_autograd autograd ${autograd_sources})
fuselet_part(fuselet_compiler compiler ${compiler_sources})
fuselet_part(fuselet_backend_cpu backends/cpu ${cpu_sources})
fuselet_part(fuselet_backend_codegen backends/codegen ${codegen_sources})
fuselet_part(fuselet_backend_jit backends/jit ${jit_sources})
fuselet_part(fuselet_backend_cuda backends/cuda ${cuda_sources})
fuselet_part(fuselet_backend_reference backends/reference ${reference_sources})
fuselet_part(fuselet_backends backends ${backends_sources})
fuselet_part(fuselet_frontend frontend/cpp ${frontend_sources})

if(NOT FUSELET_PARTS)
  return()
endif()

add_library(fuselet SHARED)
foreach(part IN LISTS FUSELET_PARTS)
  target_sources(fuselet PRIVATE $<TARGET_OBJECTS:${part}>)
endforeach()
set_target_properties(fuselet PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(fuselet PRIVATE fuselet_settings)
target_link_options(fuselet PRIVATE -Wl,-Bsymbolic-functions)

target_compile_features(fuselet PUBLIC cxx_std_20)
# The formulas of public headers must round in a user's code as they do in the library.
target_compile_options(fuselet INTERFACE -ffp-contract=off)
target_include_directories(fuselet INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/frontend/cpp>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fuselet>)
add_library(fuselet::fuselet ALIAS fuselet)
