-- Identifiers are never used twice (AUTOINCREMENT): a run directory keeps its trial's number even after a purge.
CREATE TABLE trial (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    title              TEXT    NOT NULL,
    state              TEXT    NOT NULL,              -- see RunState
    spec_json          TEXT    NOT NULL,              -- the whole TrialSpec; the next columns repeat parts of it for lists
    dataset            TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    devices            TEXT    NOT NULL,
    batch              INTEGER NOT NULL,
    epochs             INTEGER NOT NULL,
    learning_rate      REAL    NOT NULL,
    created_at         TEXT    NOT NULL,              -- times: UTC, ISO 8601, milliseconds
    started_at         TEXT,
    finished_at        TEXT,
    run_directory      TEXT    NOT NULL,
    attempts           INTEGER NOT NULL DEFAULT 0,
    step               INTEGER NOT NULL DEFAULT 0,
    epoch              INTEGER NOT NULL DEFAULT 0,
    best_accuracy      REAL,                          -- fractions, 0 to 1
    test_accuracy      REAL,
    test_loss          REAL,
    samples_per_second REAL,
    seconds            REAL,
    failure_kind       TEXT,
    failure_where      TEXT,
    failure_what       TEXT,
    failure_rank       INTEGER,
    note               TEXT    NOT NULL DEFAULT '',
    deleted            INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE attempt (
    trial      INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    from_step  INTEGER NOT NULL,                      -- optimizer updates done before it
    started_at TEXT    NOT NULL,
    PRIMARY KEY (trial, number)
) STRICT;

-- Every event but the steps; `json` is the event's line.
CREATE TABLE event (
    trial   INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    step    INTEGER NOT NULL,
    json    TEXT    NOT NULL,
    PRIMARY KEY (trial, attempt, number),
    FOREIGN KEY (trial, attempt) REFERENCES attempt (trial, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A stretch of consecutive step events, up to 512 of them; event numbers run from first_event without a gap.
-- Blobs are arrays of `count` little-endian numbers: steps int64; seconds and series_value.data float64.
CREATE TABLE series_chunk (
    id          INTEGER PRIMARY KEY,
    trial       INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    first_step  INTEGER NOT NULL,
    last_step   INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    last_event  INTEGER NOT NULL,
    count       INTEGER NOT NULL,
    steps       BLOB    NOT NULL,
    seconds     BLOB    NOT NULL,
    UNIQUE (trial, attempt, first_event),
    FOREIGN KEY (trial, attempt) REFERENCES attempt (trial, number) ON DELETE CASCADE
) STRICT;

CREATE TABLE series_value (
    chunk  INTEGER NOT NULL REFERENCES series_chunk (id) ON DELETE CASCADE,
    metric TEXT    NOT NULL,                          -- "loss", "learning_rate", "compute.0" (rank 0)…
    data   BLOB    NOT NULL,
    UNIQUE (chunk, metric)
) STRICT;
