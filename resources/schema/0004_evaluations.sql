-- What somebody asked of a checkpoint after training. A trial's own evaluations are events.
CREATE TABLE evaluation (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    trial       INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    created_at  TEXT    NOT NULL,                     -- UTC, ISO 8601, milliseconds
    checkpoint  TEXT    NOT NULL,                     -- its role: "best", "last"
    step        INTEGER NOT NULL,                     -- where it stands
    epoch       INTEGER NOT NULL,
    data        TEXT    NOT NULL,                     -- the dataset's path or, without one, its id
    split       TEXT    NOT NULL,                     -- "test", "train", "all"
    devices     TEXT    NOT NULL,
    samples     INTEGER NOT NULL,
    seconds     REAL    NOT NULL,
    loss        REAL,
    accuracy    REAL,
    accuracy5   REAL,                                 -- NULL: not counted
    counts_json TEXT    NOT NULL,                     -- an event "eval_counts"; of no classes where none are counted
    answers     BLOB    NOT NULL                      -- by sample: label int32, five classes int32, five probabilities float32
) STRICT;
CREATE INDEX evaluation_of_trial ON evaluation (trial);
