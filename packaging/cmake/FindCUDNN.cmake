# cuDNN 9: CUDNN_ROOT, the toolkit's folders, system paths, or Python's site-packages (nvidia/cudnn). Makes CUDNN::cudnn.
find_program(LOCKSTEP_PYTHON python3)
if(LOCKSTEP_PYTHON)
    execute_process(COMMAND ${LOCKSTEP_PYTHON} -c "import nvidia.cudnn; print(*nvidia.cudnn.__path__, sep=';')"
        OUTPUT_VARIABLE python_folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_path(CUDNN_INCLUDE_DIR cudnn_version.h
    HINTS ${CUDNN_ROOT} $ENV{CUDNN_ROOT} ${LOCKSTEP_CUDA_PREFIX}/nvidia/cudnn ${CUDAToolkit_INCLUDE_DIRS} ${python_folders}
    PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9
    HINTS ${CUDNN_ROOT} $ENV{CUDNN_ROOT} ${LOCKSTEP_CUDA_PREFIX}/nvidia/cudnn ${CUDAToolkit_LIBRARY_DIR} ${python_folders}
    PATH_SUFFIXES lib lib64)
if(CUDNN_INCLUDE_DIR)
    file(STRINGS "${CUDNN_INCLUDE_DIR}/cudnn_version.h" version REGEX "#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) ")
    string(REGEX REPLACE "[^0-9;]" "" version "${version}")
    string(REPLACE ";" "." CUDNN_VERSION "${version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDNN REQUIRED_VARS CUDNN_LIBRARY CUDNN_INCLUDE_DIR VERSION_VAR CUDNN_VERSION)
if(CUDNN_FOUND AND NOT TARGET CUDNN::cudnn)
    add_library(CUDNN::cudnn UNKNOWN IMPORTED)
    set_target_properties(CUDNN::cudnn PROPERTIES
        IMPORTED_LOCATION "${CUDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_DIR}")
endif()
