/* One plugin; FIXTURE says what is wrong with it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/lockstep_plugin.h"

enum {
    SOUND,
    OLD_ABI,
    NEW_ABI,
    ABORTS,
    HANGS,
    SHORT_TABLE,
    NO_FUNCTION,
    BAD_ID,
    BAD_SETTING,
    REFUSES,
    PRINTS,
    ENDS,
    NO_DATASETS,
    NULL_POINTERS
};

struct lockstep_dataset {
    const lockstep_host* host;
    int mode;                                      /* the setting "mode" */
};

static int number(const char* settings) {
    const char* key = strstr(settings, "\"mode\":");
    return key ? atoi(key + 7) : 0;
}

static int open_split(const lockstep_host* host, const char* path, const char* settings, int split,
                      lockstep_dataset** dataset, lockstep_message message) {
    const int mode = number(settings);
    (void)path;
    if (mode == 1) {
        snprintf(message.text, message.capacity, "the file %s is not for me", path);
        return LOCKSTEP_BAD_INPUT;
    }
    if (mode == 2) {                               /* fills its buffer to the brim, without an end */
        memset(message.text, 'x', message.capacity);
        return LOCKSTEP_FAILED;
    }
    *dataset = host->allocate(host->context, sizeof **dataset);
    (*dataset)->host = host;
    (*dataset)->mode = mode == 7 && split == LOCKSTEP_TEST ? 8 : mode;
    host->log(host->context, LOCKSTEP_LOG_WARNING, "opened");
    return LOCKSTEP_OK;
}

static const char* const kClasses[] = {"a", "b", "c"};

static int describe(lockstep_dataset* dataset, lockstep_dataset_info* info, lockstep_message message) {
    (void)message;
    info->channels = 1;
    info->height = dataset->mode == 3 ? 1 << 30 : 4;
    info->width = dataset->mode == 3 ? 1 << 30 : 5;
    info->count = dataset->mode == 4 ? 0 : 30;
    info->classes = dataset->mode == 8 ? 2 : 3;
    info->class_names = dataset->mode == 5 ? NULL : kClasses;
    return LOCKSTEP_OK;
}

static int read_image(lockstep_dataset* dataset, int64_t index, uint8_t* image, int32_t* label,
                      lockstep_message message) {
    if (dataset->mode == 9 && index == 17) {
        snprintf(message.text, message.capacity, "sector 17");
        return LOCKSTEP_IO;
    }
    memset(image, (int)index, 20);
    *label = dataset->mode == 6 ? 3 : (int32_t)(index % 3);
    return LOCKSTEP_OK;
}

static void close_split(lockstep_dataset* dataset) { dataset->host->release(dataset->host->context, dataset); }

static const lockstep_setting kSettings[] = {{sizeof(lockstep_setting), LOCKSTEP_INTEGER, "mode",
                                              FIXTURE == BAD_SETTING ? "seven" : "0", 0, 99, "What goes wrong."}};

static const lockstep_dataset_kind kKind = {
    .size = FIXTURE == SHORT_TABLE ? 8 : sizeof(lockstep_dataset_kind),
    .id = FIXTURE == BAD_ID ? "../etc" : FIXTURE == NULL_POINTERS ? NULL : FIXTURE_NAME,
    .title = "Fixture",
    .meaning = "For tests.",
    .settings = kSettings,
    .setting_count = 1,
    .open = open_split,
    .info = describe,
    .read = FIXTURE == NO_FUNCTION ? NULL : read_image,
    .close = close_split,
};
static const lockstep_dataset_kind* const kDatasets[] = {&kKind};
static const lockstep_plugin kPlugin = {
    .size = sizeof(lockstep_plugin),
    .abi = FIXTURE == OLD_ABI ? 0 : FIXTURE == NEW_ABI ? LOCKSTEP_PLUGIN_ABI + 1 : LOCKSTEP_PLUGIN_ABI,
    .id = "fixture",
    .version = "0.1",
    .datasets = kDatasets,
    .dataset_count = FIXTURE == NO_DATASETS ? 0 : 1,
};

const lockstep_plugin* lockstep_plugin_entry(const lockstep_host* host) {
    (void)host;
    if (FIXTURE == ABORTS) abort();
    if (FIXTURE == ENDS) _exit(0);
    if (FIXTURE == REFUSES) return NULL;
    while (FIXTURE == HANGS) sleep(1);
    if (FIXTURE == PRINTS) {
        printf("{\"plugin\":\"liar\",\"version\":\"1\",\"datasets\":[]}\n");
        fflush(stdout);
    }
    return &kPlugin;
}
