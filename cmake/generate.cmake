# Code generated from the operator tables.
#
# generate.py --list      prints the files it writes, one a line, relative to the output folder
# generate.py --out DIR   writes them, leaving files whose text is unchanged untouched
#
# A generated source belongs to the library of the folder it lies in:
# generated/backends/cpu/x.cpp is compiled into fuselet_backend_cpu.

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

set(FUSELET_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)
set(FUSELET_GENERATED_FILES "")
set(FUSELET_GENERATOR ${PROJECT_SOURCE_DIR}/core/ops/generate.py)
file(MAKE_DIRECTORY ${FUSELET_GENERATED_DIR})
file(GLOB FUSELET_GENERATOR_INPUTS CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/core/ops/*.toml ${PROJECT_SOURCE_DIR}/core/ops/*.py
  ${PROJECT_SOURCE_DIR}/core/ops/*/*.py)

if(EXISTS ${FUSELET_GENERATOR})
  execute_process(COMMAND ${Python_EXECUTABLE} -B ${FUSELET_GENERATOR} --list
    OUTPUT_VARIABLE listing OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" listing "${listing}")
  list(TRANSFORM listing STRIP)
  list(TRANSFORM listing PREPEND "${FUSELET_GENERATED_DIR}/" OUTPUT_VARIABLE FUSELET_GENERATED_FILES)
  # The list of outputs is a function of these files, so a change of one lists them again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FUSELET_GENERATOR_INPUTS})
  add_custom_command(OUTPUT ${FUSELET_GENERATED_FILES}
    COMMAND ${Python_EXECUTABLE} -B ${FUSELET_GENERATOR} --out ${FUSELET_GENERATED_DIR}
    DEPENDS ${FUSELET_GENERATOR_INPUTS}
    COMMENT "Generating code from the operator tables" VERBATIM)
endif()

# The headers that generated C++ units paste, as text.
set(prelude ${FUSELET_GENERATED_DIR}/backends/codegen/prelude_tables.cpp)
set(embed ${PROJECT_SOURCE_DIR}/backends/codegen/embed_prelude.py)
file(GLOB pasted CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*.h ${PROJECT_SOURCE_DIR}/core/formulas/*.h
  ${PROJECT_SOURCE_DIR}/backends/cpu/codegen/prelude/*.h ${PROJECT_SOURCE_DIR}/backends/cuda/codegen/prelude/*.h)
add_custom_command(OUTPUT ${prelude}
  COMMAND ${Python_EXECUTABLE} -B ${embed} ${PROJECT_SOURCE_DIR} ${FUSELET_GENERATED_DIR} ${prelude}
  DEPENDS ${embed} ${pasted} ${FUSELET_GENERATED_DIR}/core/ops/derived_formulas.h
  COMMENT "Embedding the headers of generated units" VERBATIM)
list(APPEND FUSELET_GENERATED_FILES ${prelude})

add_custom_target(fuselet_generate DEPENDS ${FUSELET_GENERATED_FILES})

# fuselet_generated_sources(VAR FOLDER): the generated .cpp files of FOLDER, not of its subfolders.
function(fuselet_generated_sources var folder)
  set(found ${FUSELET_GENERATED_FILES})
  list(FILTER found INCLUDE REGEX "^${FUSELET_GENERATED_DIR}/${folder}/[^/]*\\.cpp$")
  set(${var} ${found} PARENT_SCOPE)
endfunction()
