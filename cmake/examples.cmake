# Each file of examples/cpp is one program.

if(NOT FUSELET_EXAMPLES)
  return()
endif()
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/cpp/*.cpp)
foreach(source IN LISTS example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE fuselet fuselet_settings)
  add_dependencies(${name} fuselet_generate)
endforeach()
