-- What a person adds to keep order among many trials.
ALTER TABLE trial ADD COLUMN star     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trial ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;

CREATE TABLE trial_tag (
    trial INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    tag   TEXT    NOT NULL,
    PRIMARY KEY (trial, tag)
) STRICT, WITHOUT ROWID;
