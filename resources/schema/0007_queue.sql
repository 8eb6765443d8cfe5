-- Settings of all trials by their paths (spec/trial_settings.h), so that SQL can ask for them. Whoever writes a spec
-- writes them, too.
CREATE TABLE trial_param (
    trial  INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    key    TEXT    NOT NULL,                          -- "batch", "optimizer", "optimizer.momentum"
    number REAL,                                      -- of numbers and, as 0 and 1, of what is true or false
    text   TEXT,                                      -- of texts
    PRIMARY KEY (trial, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX trial_param_by_key ON trial_param (key, number, text);

INSERT INTO trial_param (trial, key, number, text)
    SELECT trial.id,
           CASE WHEN each.path = '$' THEN each.key
                WHEN each.key = 'id' THEN substr(each.path, 3)
                ELSE substr(each.path, 3) || '.' || each.key END,
           CASE WHEN each.type <> 'text' THEN CAST(each.atom AS REAL) END,
           CASE WHEN each.type = 'text' THEN each.atom END
    FROM trial, json_tree(CASE WHEN json_valid(trial.spec_json) THEN trial.spec_json ELSE '{}' END) AS each
    WHERE each.type IN ('integer', 'real', 'true', 'false', 'text') AND each.key <> 'title'
      AND each.path NOT GLOB '$.*[.[]*'               -- what lies deeper is no setting
    ON CONFLICT DO NOTHING;

-- Trials that belong together.
CREATE TABLE trial_group (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL,                     -- "sweep"
    title       TEXT    NOT NULL,
    spec_json   TEXT    NOT NULL,                     -- of a sweep: see search/sweep_spec.h
    state       TEXT    NOT NULL,                     -- see GroupState
    reason      TEXT    NOT NULL DEFAULT '',          -- of one that failed: the problem, as JSON
    created_at  TEXT    NOT NULL,
    finished_at TEXT
) STRICT;

-- What a sweep has suggested: nothing twice, and nothing forgotten, whatever becomes of the trials.
CREATE TABLE group_cell (
    member_of INTEGER NOT NULL REFERENCES trial_group (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,                       -- from 0, in the order of suggestion
    settings  TEXT    NOT NULL,                       -- a JSON object: path and value
    PRIMARY KEY (member_of, number),
    UNIQUE (member_of, settings)
) STRICT, WITHOUT ROWID;

-- The trials of a cell, one for each repeat. NULL: it was removed for good, and is not made again.
CREATE TABLE group_trial (
    member_of INTEGER NOT NULL REFERENCES trial_group (id) ON DELETE CASCADE,
    cell      INTEGER NOT NULL,
    repeat    INTEGER NOT NULL,                       -- from 0
    trial     INTEGER REFERENCES trial (id) ON DELETE SET NULL,
    adopted   INTEGER NOT NULL DEFAULT 0,             -- it was in the history before
    PRIMARY KEY (member_of, cell, repeat)
) STRICT;
CREATE INDEX group_of_trial ON group_trial (trial);

-- Trials that the queue starts, until they have ended.
CREATE TABLE queue_entry (
    trial    INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    priority INTEGER NOT NULL DEFAULT 0,              -- the highest first
    position INTEGER NOT NULL,                        -- then the lowest
    held     INTEGER NOT NULL DEFAULT 0,
    after    INTEGER,                                 -- a trial that must have ended before
    retries  INTEGER NOT NULL DEFAULT 0,              -- how often it may fail
    tries    INTEGER NOT NULL DEFAULT 0,              -- engines started for it that came no further than the one before
    asked    INTEGER,                                 -- attempts that it had when a person asked for another one
    step     INTEGER NOT NULL DEFAULT 0               -- where it stood when the latest was started
) STRICT;
CREATE INDEX trial_by_state ON trial (state);
