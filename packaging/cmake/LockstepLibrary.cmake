# Under a sanitizer, sources are compiled to be checked, whatever the build type, or, where a folder sets
# LOCKSTEP_CHECKS_SOURCES to OFF, as in any other build; every program is linked with it.
set(LOCKSTEP_CHECKS_SOURCES ON)
set(sanitizers_address -fsanitize=address,undefined -fno-sanitize-recover=all)
set(sanitizers_thread -fsanitize=thread)
if(LOCKSTEP_SANITIZE AND NOT DEFINED sanitizers_${LOCKSTEP_SANITIZE})
    message(FATAL_ERROR "LOCKSTEP_SANITIZE is \"${LOCKSTEP_SANITIZE}\": choose address or thread.")
endif()

# lockstep_library(name SOURCES … LINK … [PRECOMPILED headers] [UNITY]): the static library of one folder, target
# lockstep_<name>, with the project's warnings. LINK lists what the folder may include: names of other folders, or outside
# targets. lockstep_warnings(target) alone serves programs and modules.
#
# What makes a whole build quick: most of a source's time goes into other people's headers. PRECOMPILED: they are read once,
# see lockstep_precompiled. UNITY: the sources are compiled together, where each would compile the same templates and inline
# functions anew (lockstep_unity(target) for programs).
function(lockstep_warnings target)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>)
    # GCC 12 sees overlapping copies inside std::string where there are none (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
    endif()
    if(LOCKSTEP_WERROR AND NOT (LOCKSTEP_SANITIZE AND LOCKSTEP_CHECKS_SOURCES))    # there GCC sees what is not there
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
    endif()
    if(LOCKSTEP_SANITIZE)
        if(LOCKSTEP_CHECKS_SOURCES)
            target_compile_options(${target} PRIVATE ${sanitizers_${LOCKSTEP_SANITIZE}} -fno-omit-frame-pointer -O1 -g1 -UNDEBUG)
        endif()
        target_link_options(${target} PUBLIC ${sanitizers_${LOCKSTEP_SANITIZE}})
    endif()
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# lockstep_precompiled(name HEADERS … LINK …): HEADERS, outside ones alone, are compiled once as lockstep_<name> for all targets
# that ask for it by lockstep_precompile(target name): Qt's or none of them, for code differs in its flags.
function(lockstep_precompiled name)
    cmake_parse_arguments(arg "" "" "HEADERS;LINK" ${ARGN})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(lockstep_${name} OBJECT ${source})
    lockstep_warnings(lockstep_${name})
    set_target_properties(lockstep_${name} PROPERTIES AUTOMOC OFF)
    target_link_libraries(lockstep_${name} PRIVATE ${arg_LINK})
    target_precompile_headers(lockstep_${name} PRIVATE ${arg_HEADERS})
    target_compile_options(lockstep_${name} PRIVATE ${precompiling})
endfunction()

# ccache wants to see which headers were precompiled.
set(precompiling $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
function(lockstep_precompile target name)
    if(LOCKSTEP_QUICK_BUILD)
        target_precompile_headers(${target} REUSE_FROM lockstep_${name})
        target_compile_options(${target} PRIVATE ${precompiling})
    endif()
endfunction()

# For folders of words, tables and JSON, and for tests, whose running time nobody notices and whose compiling does: -O3 takes
# half as long again as -O1 there. lockstep_compile_fully() takes it back in a folder below.
macro(lockstep_compile_lightly)
    add_compile_options($<$<CONFIG:Release>:-O1>)
endmacro()

macro(lockstep_compile_fully)
    add_compile_options($<$<CONFIG:Release>:-O3>)
endmacro()

function(lockstep_unity target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${LOCKSTEP_QUICK_BUILD} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

function(lockstep_library name)
    cmake_parse_arguments(arg "UNITY" "PRECOMPILED" "SOURCES;LINK" ${ARGN})
    add_library(lockstep_${name} STATIC ${arg_SOURCES})
    lockstep_warnings(lockstep_${name})
    if(arg_PRECOMPILED)
        lockstep_precompile(lockstep_${name} ${arg_PRECOMPILED})
    endif()
    if(arg_UNITY)
        lockstep_unity(lockstep_${name})
    endif()
    foreach(dependency IN LISTS arg_LINK)
        if(dependency MATCHES "::" OR TARGET ${dependency})
            target_link_libraries(lockstep_${name} PUBLIC ${dependency})
        else()
            target_link_libraries(lockstep_${name} PUBLIC lockstep_${dependency})
        endif()
    endforeach()
endfunction()
