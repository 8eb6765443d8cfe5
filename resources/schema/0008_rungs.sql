-- Trials of a sweep whose cells pause at rungs (search/rungs.h): the epoch that this one may train to for now. NULL: to
-- its end.
ALTER TABLE group_trial ADD COLUMN until_epoch INTEGER;

-- In which order cells came to their rungs; those of one trial and those of its repeats are one.
CREATE TABLE rung_arrival (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    member_of INTEGER NOT NULL REFERENCES trial_group (id) ON DELETE CASCADE,
    cell      INTEGER NOT NULL,
    rung      INTEGER NOT NULL,                       -- from 0, the lowest
    UNIQUE (member_of, cell, rung)
) STRICT;
