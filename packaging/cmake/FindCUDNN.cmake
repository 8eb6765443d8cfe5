# cuDNN 9: CUDNN_ROOT, the toolkit's folders, system paths, or NVIDIA's packages on PyPI (LOCKSTEP_NVIDIA_PACKAGES). Makes
# CUDNN::cudnn.
list(TRANSFORM LOCKSTEP_NVIDIA_PACKAGES APPEND /cudnn OUTPUT_VARIABLE packages)
find_path(CUDNN_INCLUDE_DIR cudnn_version.h
    HINTS ${CUDNN_ROOT} $ENV{CUDNN_ROOT} ${CUDAToolkit_INCLUDE_DIRS} ${packages}
    PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR
    HINTS ${CUDNN_ROOT} $ENV{CUDNN_ROOT} ${CUDAToolkit_LIBRARY_DIR} ${packages}
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
