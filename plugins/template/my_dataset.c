/* A whole dataset plugin to start from: images of horizontal or vertical stripes, computed, no files needed. */
#include <stdio.h>
#include <string.h>

#include "lockstep_plugin.h"

struct lockstep_dataset {
    const lockstep_host* host;
    int64_t count;
};

static const char* const kClasses[] = {"horizontal", "vertical"};
enum { kSize = 16 };
enum { kImage, kLabel, kFieldCount };
static const lockstep_field kFields[] = {
    [kImage] = {sizeof(lockstep_field), LOCKSTEP_U8, "image", 3, {1, kSize, kSize}},
    [kLabel] = {sizeof(lockstep_field), LOCKSTEP_I32, "label", 1, {1}},
};

static int open_split(const lockstep_host* host, const char* path, const char* settings, int split,
                      lockstep_dataset** dataset, lockstep_message message) {
    (void)path;
    (void)settings;
    *dataset = host->allocate(host->context, sizeof **dataset);
    if (!*dataset) {
        snprintf(message.text, message.capacity, "no memory");
        return LOCKSTEP_NO_MEMORY;
    }
    (*dataset)->host = host;
    (*dataset)->count = split == LOCKSTEP_TRAIN ? 512 : 128;
    return LOCKSTEP_OK;
}

static int describe(lockstep_dataset* dataset, lockstep_dataset_info* info, lockstep_message message) {
    (void)message;
    info->fields = kFields;
    info->field_count = kFieldCount;
    info->classes = 2;
    info->class_names = kClasses;
    info->count = dataset->count;
    return LOCKSTEP_OK;
}

static int read_sample(lockstep_dataset* dataset, int64_t index, void* const* into, lockstep_message message) {
    if (index < 0 || index >= dataset->count) {
        snprintf(message.text, message.capacity, "there is no sample %lld", (long long)index);
        return LOCKSTEP_BAD_INPUT;
    }
    uint8_t* image = into[kImage];
    int32_t* label = into[kLabel];
    const int phase = (int)(index / 2 % 4);
    *label = (int32_t)(index % 2);
    for (int y = 0; y < kSize; ++y) {
        for (int x = 0; x < kSize; ++x) image[y * kSize + x] = ((*label ? x : y) + phase) % 4 < 2 ? 220 : 30;
    }
    return LOCKSTEP_OK;
}

static void close_split(lockstep_dataset* dataset) { dataset->host->release(dataset->host->context, dataset); }

static int recognise(const char* path) { return strcmp(path, "stripes") == 0 ? 100 : 0; }

static const lockstep_dataset_kind kStripes = {
    .size = sizeof(lockstep_dataset_kind),
    .id = "stripes",
    .title = "Stripes",
    .meaning = "Images of horizontal or vertical stripes, computed on the fly.",
    .open = open_split,
    .info = describe,
    .read = read_sample,
    .close = close_split,
    .recognise = recognise,
};
static const lockstep_dataset_kind* const kDatasets[] = {&kStripes};
static const lockstep_plugin kPlugin = {
    .size = sizeof(lockstep_plugin),
    .abi = LOCKSTEP_PLUGIN_ABI,
    .id = "stripes",
    .version = "1.0",
    .datasets = kDatasets,
    .dataset_count = 1,
};

const lockstep_plugin* lockstep_plugin_entry(const lockstep_host* host) {
    (void)host;
    return &kPlugin;
}
