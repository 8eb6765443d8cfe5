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
    int mode; /* the setting "mode" */
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
    if (mode == 2) { /* fills its buffer to the brim, without an end */
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

#define FIELD(type, name, ...) \
    { sizeof(lockstep_field), type, name, __VA_ARGS__ }
#define IMAGE FIELD(LOCKSTEP_U8, "image", 3, {1, 4, 5})
#define LABEL FIELD(LOCKSTEP_I32, "label", 1, {1})

/* What goes wrong with the fields, from mode 20 on; 20 itself is sound. */
static const lockstep_field kDeclared[][3] = {
    {FIELD(LOCKSTEP_I32, "tokens", 1, {3}), LABEL, FIELD(LOCKSTEP_F64, "weight", 2, {1, 2})},
    {FIELD(LOCKSTEP_U8, "image", 3, {1, 0, 5}), LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {IMAGE, LABEL, FIELD(9, "x", 1, {1})},
    {IMAGE, LABEL, FIELD(-1, "x", 1, {1})},
    {IMAGE, LABEL, IMAGE},
    {IMAGE, FIELD(LOCKSTEP_I32, "labels", 1, {1}), FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_I64, "ids", 1, {1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, NULL, 1, {1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "a b", 1, {1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 0, {1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 6, {1, 1, 1, 1, 1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 5, {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_F64, "x", 1, {(8 << 20) + 1})},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 2, {-2, -2})},
    {FIELD(LOCKSTEP_F32, "image", 3, {1, 4, 5}), LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {FIELD(LOCKSTEP_U8, "image", 2, {4, 5}), LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {FIELD(LOCKSTEP_U8, "image", 3, {17, 4, 5}), LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {IMAGE, FIELD(LOCKSTEP_I64, "label", 1, {1}), FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {IMAGE, FIELD(LOCKSTEP_I32, "label", 1, {2}), FIELD(LOCKSTEP_U8, "x", 1, {1})},
    {IMAGE, LABEL, {8, LOCKSTEP_U8, "x", 1, {1}}},
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})}, /* but their number is a lie */
    {IMAGE, LABEL, FIELD(LOCKSTEP_U8, "x", 1, {1})}, /* but NULL is handed over */
};
enum { kFirst = 20, kTooMany = 40, kNone = 41 };

static const lockstep_field kImages[] = {IMAGE, LABEL};
static const lockstep_field kEnormous[] = {FIELD(LOCKSTEP_U8, "image", 3, {1, 1 << 30, 1 << 30}), LABEL};

static void declare(int mode, lockstep_dataset_info* info) {
    info->fields = mode == kNone ? NULL : mode >= kFirst ? kDeclared[mode - kFirst] : mode == 3 ? kEnormous : kImages;
    info->field_count = mode == kTooMany ? LOCKSTEP_MOST_FIELDS + 1 : mode >= kFirst ? 3 : 2;
}

static int describe(lockstep_dataset* dataset, lockstep_dataset_info* info, lockstep_message message) {
    (void)message;
    declare(dataset->mode, info);
    info->count = dataset->mode == 4 ? 0 : 30;
    info->classes = dataset->mode == 8 ? 2 : 3;
    info->class_names = dataset->mode == 5 ? NULL : kClasses;
    return LOCKSTEP_OK;
}

static int read_fields(int64_t index, void* const* into) {
    for (int i = 0; i < 3; ++i) ((int32_t*)into[0])[i] = (int32_t)(10 * index + i);
    *(int32_t*)into[1] = (int32_t)(index % 3);
    for (int i = 0; i < 2; ++i) ((double*)into[2])[i] = (double)index / 2 + i;
    return LOCKSTEP_OK;
}

static int read_sample(lockstep_dataset* dataset, int64_t index, void* const* into, lockstep_message message) {
    if (dataset->mode == kFirst) return read_fields(index, into);
    if (dataset->mode == 9 && index == 17) {
        snprintf(message.text, message.capacity, "sector 17");
        return LOCKSTEP_IO;
    }
    static int seventeens; /* those of opening come through */
    while (dataset->mode == 11 && index == 17 && ++seventeens > 3) sleep(1);
    memset(into[0], (int)index, 20);
    if (dataset->mode == 10) return LOCKSTEP_OK; /* without a label */
    *(int32_t*)into[1] = dataset->mode == 6 ? 3 : (int32_t)(index % 3);
    return LOCKSTEP_OK;
}

static void close_split(lockstep_dataset* dataset) { dataset->host->release(dataset->host->context, dataset); }

static const lockstep_setting kSettings[] = {{sizeof(lockstep_setting), LOCKSTEP_INTEGER, "mode",
                                              FIXTURE == BAD_SETTING ? "seven" : "0", 0, 99, "What goes wrong."}};

static const lockstep_dataset_kind kKind = {
    .size = FIXTURE == SHORT_TABLE ? 8 : sizeof(lockstep_dataset_kind),
    .id = FIXTURE == BAD_ID          ? "../etc"
          : FIXTURE == NULL_POINTERS ? NULL
                                     : FIXTURE_NAME,
    .title = "Fixture",
    .meaning = "For tests.",
    .settings = kSettings,
    .setting_count = 1,
    .open = open_split,
    .info = describe,
    .read = FIXTURE == NO_FUNCTION ? NULL : read_sample,
    .close = close_split,
};
static const lockstep_dataset_kind* const kDatasets[] = {&kKind};
static const lockstep_plugin kPlugin = {
    .size = sizeof(lockstep_plugin),
    .abi = FIXTURE == OLD_ABI   ? 0
           : FIXTURE == NEW_ABI ? LOCKSTEP_PLUGIN_ABI + 1
                                : LOCKSTEP_PLUGIN_ABI,
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
