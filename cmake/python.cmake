# The Python extension module fuselet._C. In a source tree it is built into the package's own
# folder, so that PYTHONPATH=frontend/python is enough; a wheel installs it beside libfuselet.so.

file(GLOB FUSELET_PYTHON_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/frontend/python/*.cpp)
fuselet_generated_sources(generated frontend/python)
list(APPEND FUSELET_PYTHON_SOURCES ${generated})

if(NOT pybind11_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(Python_Development.Module_FOUND)
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 2.10 CONFIG QUIET HINTS ${pybind11_hint})
endif()
option(FUSELET_PYTHON "Build the Python extension module" ${pybind11_FOUND})

if(NOT FUSELET_PYTHON OR NOT FUSELET_PYTHON_SOURCES)
  return()
endif()
if(NOT pybind11_FOUND)
  message(FATAL_ERROR "FUSELET_PYTHON needs pybind11 (pip install pybind11) and Python's headers")
endif()

# NO_EXTRAS: link-time optimisation would cost far more build time than the bindings gain.
pybind11_add_module(fuselet_python MODULE NO_EXTRAS ${FUSELET_PYTHON_SOURCES})
target_link_libraries(fuselet_python PRIVATE fuselet fuselet_settings)
add_dependencies(fuselet_python fuselet_generate)
set_target_properties(fuselet_python PROPERTIES OUTPUT_NAME _C INSTALL_RPATH "$ORIGIN"
  CXX_VISIBILITY_PRESET hidden)

# The package's type stub, from the table's stubs and the package's own sources.
add_custom_command(TARGET fuselet_python POST_BUILD
  COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/frontend/python/make_stubs.py
          ${FUSELET_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/frontend/python/fuselet
  VERBATIM)

if(SKBUILD)
  install(TARGETS fuselet_python fuselet LIBRARY DESTINATION fuselet COMPONENT python)
  install(FILES ${PROJECT_SOURCE_DIR}/frontend/python/fuselet/__init__.pyi DESTINATION fuselet
          COMPONENT python)
  if(TARGET fuselet_cuda_sim)
    # Opened at run time, so nothing links it: the wheel builds fuselet_python alone.
    add_dependencies(fuselet_python fuselet_cuda_sim)
    install(TARGETS fuselet_cuda_sim LIBRARY DESTINATION fuselet COMPONENT python)
  endif()
else()
  set_target_properties(fuselet_python PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/python/fuselet)
endif()
