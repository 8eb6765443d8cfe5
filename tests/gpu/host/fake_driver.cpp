#include <cstdlib>
#include <cstring>

// Takes the place of NVIDIA's driver, libcuda.so.1, and has no card: LOCKSTEP_FAKE_DRIVER is "VERSION STATUS", the CUDA
// version it says it is for (13000) and the error that all else answers (100: no device, 999: unknown), by cuda.h;
// without it, a new driver that sees no card. It never answers that all is well: the runtime would use what it has not
// been given.

namespace {

int numberAt(int index) {
    const char* text = std::getenv("LOCKSTEP_FAKE_DRIVER");
    char* next = nullptr;
    long number = std::strtol(text ? text : "99000 100", &next, 10);
    if (index == 1) number = std::strtol(next, nullptr, 10);
    return static_cast<int>(number);
}

int refuse() { return numberAt(1); }

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
    *version = numberAt(0);
    return 0;
}
int cuInit(unsigned) { return numberAt(1); }
int cuDeviceGetCount(int* count) {
    *count = 0;
    return numberAt(1);
}
int cuGetErrorString(int, const char** text) {
    *text = "refused";
    return 0;
}
int cuGetExportTable(const void**, const void*) { return numberAt(1); }

int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* found) {
    *function = reinterpret_cast<void*>(refuse);
    if (std::strcmp(name, "cuDriverGetVersion") == 0) *function = reinterpret_cast<void*>(cuDriverGetVersion);
    if (std::strcmp(name, "cuInit") == 0) *function = reinterpret_cast<void*>(cuInit);
    if (std::strcmp(name, "cuDeviceGetCount") == 0) *function = reinterpret_cast<void*>(cuDeviceGetCount);
    if (std::strcmp(name, "cuGetProcAddress") == 0) *function = reinterpret_cast<void*>(cuGetProcAddress_v2);
    if (std::strcmp(name, "cuGetExportTable") == 0) *function = reinterpret_cast<void*>(cuGetExportTable);
    if (found) *found = 0;
    return 0;
}

}  // extern "C"
