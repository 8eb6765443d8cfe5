# lockstep_mutant("<repository>#<number>" MEANING … FILE … REPLACE … WITH … CAUGHT_BY … [FUNCTIONS …]): a bug that
# others published, in our component FILE: the snippet REPLACE, which occurs there once, becomes WITH. The test program
# CAUGHT_BY, which was not written for it, is linked once more with that source in the place of ours. FUNCTIONS: those
# of its test functions that are run, to save time.
function(lockstep_mutant bug)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MEANING;FILE;REPLACE;WITH;CAUGHT_BY" "FUNCTIONS")
    string(REGEX REPLACE "[^A-Za-z0-9]+" "_" name "mutant_${bug}")
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    lockstep_mutate("${bug}" "${arg_FILE}" "${arg_REPLACE}" "${arg_WITH}" ${copy})

    get_property(program GLOBAL PROPERTY lockstep_program_of_${arg_CAUGHT_BY})
    add_executable(${name} ${copy} $<TARGET_OBJECTS:${program}>)
    get_filename_component(folder ${arg_FILE} DIRECTORY)
    string(REGEX REPLACE "^engine/" "lockstep_" library "${folder}")
    string(REPLACE "/" "_" library "${library}")
    get_target_property(linked ${program} LINK_LIBRARIES)
    target_link_libraries(${name} PRIVATE ${linked} ${library})
    target_link_options(${name} PRIVATE -Wl,-z,muldefs)          # ours may come along with sources it is compiled together with
    target_compile_options(${name} PRIVATE -w -O1)               # built once, run once
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/mutants)

    list(JOIN arg_FUNCTIONS "\", \"" functions)
    set_property(GLOBAL APPEND_STRING PROPERTY lockstep_mutants
        ",\n{\"bug\": \"${bug}\", \"meaning\": \"${arg_MEANING}\", \"place\": \"${arg_FILE}:${line}\", \
\"test\": \"${arg_CAUGHT_BY}\", \"functions\": [\"${functions}\"], \"program\": \"$<TARGET_FILE:${name}>\"}")
    set_property(GLOBAL APPEND PROPERTY lockstep_mutant_programs ${name})
endfunction()

# Writes the copy, and sets `line` for the caller.
function(lockstep_mutate bug file snippet replacement copy)
    set(original ${PROJECT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
    file(READ ${original} text)
    string(FIND "${text}" "${snippet}" first)
    string(FIND "${text}" "${snippet}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
        message(FATAL_ERROR "Mutant ${bug}: \"${snippet}\" should occur exactly once in ${file}.")
    endif()
    string(SUBSTRING "${text}" 0 ${first} before)
    string(REGEX MATCHALL "\n" lines "${before}")
    list(LENGTH lines line)
    math(EXPR line "${line} + 1")
    set(line ${line} PARENT_SCOPE)
    string(REPLACE "${snippet}" "${replacement}" text "${text}")
    file(CONFIGURE OUTPUT ${copy} CONTENT "#line 1 \"${original}\"\n${text}" @ONLY)
endfunction()
