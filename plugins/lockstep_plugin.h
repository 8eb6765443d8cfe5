/* The C interface between Lockstep and its plugins: this file is all that a plugin needs.
 *
 * A plugin is a shared object that exports lockstep_plugin_entry. It is probed in a child process first; only one that
 * survives that is loaded by the engine, where it stays until the process ends. Functions return LOCKSTEP_OK, or
 * another code after writing a sentence for a person into `message`. No C++ exception may leave a function. Pointers
 * handed over stay valid: tables and their strings for ever, everything of a dataset until its close(). Text is UTF-8.
 *
 * Compatibility: `size` is the first field of every struct, set by the side that fills it. Fields are only ever added
 * at the end, and a reader uses only those within `size`; whatever else changes raises LOCKSTEP_PLUGIN_ABI. */
#ifndef LOCKSTEP_PLUGIN_H
#define LOCKSTEP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOCKSTEP_PLUGIN_ABI 2u

#if defined(__GNUC__)
#define LOCKSTEP_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define LOCKSTEP_PLUGIN_EXPORT
#endif

enum {
    LOCKSTEP_OK = 0,
    LOCKSTEP_BAD_INPUT = 1, /* the path or a setting: a person can repair it */
    LOCKSTEP_IO = 2,        /* a file could not be read */
    LOCKSTEP_NO_MEMORY = 3,
    LOCKSTEP_FAILED = 4
};

/* Where a function writes why it failed: at most `capacity` bytes, the terminating zero included. */
typedef struct lockstep_message {
    char* text;
    size_t capacity;
} lockstep_message;

enum { LOCKSTEP_LOG_INFO = 0, LOCKSTEP_LOG_WARNING = 1 };

/* What the engine offers. Valid as long as the plugin is used; any thread. */
typedef struct lockstep_host {
    uint32_t size;
    uint32_t abi;
    void* context;                                  /* first argument of the functions below */
    void* (*allocate)(void* context, size_t bytes); /* 64-byte aligned; NULL: no memory */
    void (*release)(void* context, void* memory);
    void (*log)(void* context, int level, const char* text);
} lockstep_host;

enum { LOCKSTEP_BOOL = 0, LOCKSTEP_INTEGER = 1, LOCKSTEP_NUMBER = 2, LOCKSTEP_STRING = 3 };

/* A setting of a dataset; becomes a field in forms, spec files and the command line's help. */
typedef struct lockstep_setting {
    uint32_t size;
    int32_t kind;
    const char* name;
    const char* fallback; /* as text: "true", "28", "0.5", "left" */
    double low, high;     /* inclusive, for integers and numbers; low > high: no limits */
    const char* meaning;  /* one sentence */
} lockstep_setting;

enum { LOCKSTEP_U8 = 0, LOCKSTEP_I32 = 1, LOCKSTEP_I64 = 2, LOCKSTEP_F32 = 3, LOCKSTEP_F64 = 4 };

#define LOCKSTEP_MOST_EXTENTS 5
#define LOCKSTEP_MOST_FIELDS 16

/* One named, typed field of every sample. A model finds its inputs by their names, of 1 to 64 of a-z, 0-9 and '_':
 *   "label"   I32 {1}, the class, 0 to classes - 1: every dataset has it;
 *   "image"   U8 {channels, height, width}, plane by plane: augmented, normalised and handed to the model as F32;
 *   "ids"     belongs to the engine;
 * any other reaches the model as it is. */
typedef struct lockstep_field {
    uint32_t size;
    int32_t type;
    const char* name;
    int32_t rank;                           /* 1 to LOCKSTEP_MOST_EXTENTS */
    int64_t extents[LOCKSTEP_MOST_EXTENTS]; /* `rank` of them, outermost first, each >= 1 */
} lockstep_field;

typedef struct lockstep_dataset lockstep_dataset; /* the plugin's own: one opened split */

enum { LOCKSTEP_TRAIN = 0, LOCKSTEP_TEST = 1 };

typedef struct lockstep_dataset_info {
    uint32_t size;                /* set by the engine before info() is called */
    const lockstep_field* fields; /* the same in both splits */
    int32_t field_count;          /* up to LOCKSTEP_MOST_FIELDS */
    int32_t classes;
    const char* const* class_names; /* `classes` of them, in the order of labels */
    int64_t count;                  /* samples in this split */
} lockstep_dataset_info;

typedef struct lockstep_dataset_kind {
    uint32_t size;
    const char* id;      /* "pnm-folder": a-z, 0-9 and '-' */
    const char* title;   /* "Folder of PGM and PPM images" */
    const char* meaning; /* one sentence */
    const lockstep_setting* settings;
    uint32_t setting_count;

    /* Opens one split of what lies at `path`. `settings` is a JSON object with every setting of the kind. */
    int (*open)(const lockstep_host* host, const char* path, const char* settings, int split,
                lockstep_dataset** dataset, lockstep_message message);
    int (*info)(lockstep_dataset* dataset, lockstep_dataset_info* info, lockstep_message message);
    /* Writes every field of a sample, row-major: into[f] has exactly the room for fields[f] of info() and is aligned
     * for its type. Called by many threads at once. The same index gives the same sample each time the split is
     * opened: a trial that is resumed compares some with what it was trained on. */
    int (*read)(lockstep_dataset* dataset, int64_t index, void* const* into, lockstep_message message);
    void (*close)(lockstep_dataset* dataset);
    /* How surely `path` is of this kind, 0 no to 100 certain; reads little. May be NULL. */
    int (*recognise)(const char* path);
} lockstep_dataset_kind;

typedef struct lockstep_plugin {
    uint32_t size;
    uint32_t abi;        /* LOCKSTEP_PLUGIN_ABI */
    const char* id;      /* "pnm-folder": a-z, 0-9 and '-' */
    const char* version; /* "1.0" */
    const lockstep_dataset_kind* const* datasets;
    uint32_t dataset_count;
} lockstep_plugin;

/* The one exported function, called once per process. NULL: the plugin cannot work here. */
LOCKSTEP_PLUGIN_EXPORT const lockstep_plugin* lockstep_plugin_entry(const lockstep_host* host);

#ifdef __cplusplus
}
#endif

#endif
