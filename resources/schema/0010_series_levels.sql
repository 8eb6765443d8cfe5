-- Long series of steps, once their trial has ended, in stretches of so many points each: a picture of a million steps needs
-- some thousands of them. Nothing is kept here that series_chunk does not say; short series have no rows. A trial that goes
-- on drops its own.
-- Blobs are arrays of little-endian numbers, one for each stretch: last_steps and counts int64, the others float64.
CREATE TABLE series_level (
    trial      INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    metric     TEXT    NOT NULL,                      -- as in series_value
    width      INTEGER NOT NULL,                      -- points of a stretch; the last one may have fewer
    stretches  INTEGER NOT NULL,
    last_steps BLOB    NOT NULL,                      -- where it ends
    seconds    BLOB    NOT NULL,
    counts     BLOB    NOT NULL,                      -- of its points that have a finite value; low, high and mean are theirs
    lows       BLOB    NOT NULL,
    highs      BLOB    NOT NULL,
    means      BLOB    NOT NULL,
    UNIQUE (trial, metric, width)
) STRICT;
