# The header-only libraries of the engine and the command line: the system's packages, or, on a machine without them, plain
# headers in the folder LOCKSTEP_HEADERS (nlohmann/json.hpp, CLI/CLI.hpp, fmt/format.h).
set(LOCKSTEP_HEADERS "" CACHE PATH "Folder with nlohmann/, CLI/ and fmt/, where the system has no packages of them")

function(lockstep_headers package target header)
    if(TARGET ${target})
        return()
    endif()
    if(NOT LOCKSTEP_HEADERS)
        find_package(${package} QUIET GLOBAL)
    endif()
    if(NOT TARGET ${target})
        find_path(LOCKSTEP_${package}_INCLUDE ${header} HINTS ${LOCKSTEP_HEADERS} REQUIRED)
        add_library(${target} INTERFACE IMPORTED GLOBAL)
        target_include_directories(${target} INTERFACE ${LOCKSTEP_${package}_INCLUDE})
    endif()
endfunction()

lockstep_headers(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json.hpp)
lockstep_headers(CLI11 CLI11::CLI11 CLI/CLI.hpp)
lockstep_headers(fmt fmt::fmt-header-only fmt/format.h)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
