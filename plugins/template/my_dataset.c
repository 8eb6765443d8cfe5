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
    info->channels = 1;
    info->height = info->width = kSize;
    info->count = dataset->count;
    info->classes = 2;
    info->class_names = kClasses;
    return LOCKSTEP_OK;
}

static int read_image(lockstep_dataset* dataset, int64_t index, uint8_t* image, int32_t* label,
                      lockstep_message message) {
    if (index < 0 || index >= dataset->count) {
        snprintf(message.text, message.capacity, "there is no image %lld", (long long)index);
        return LOCKSTEP_BAD_INPUT;
    }
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
    .read = read_image,
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
