-- What is known of a trial's data beside them: the names of its classes above all, for whoever has its answers and
-- neither its checkpoints nor its data. NULL: of trials that began before it was kept.
ALTER TABLE trial ADD COLUMN trained_on  TEXT;        -- JSON, as its checkpoints have it
ALTER TABLE trial ADD COLUMN fingerprint TEXT;        -- JSON: see spec/data_known.h; NULL also where it cannot be told

-- Of the data as they were then: another evaluation of the same folder may have read others.
ALTER TABLE evaluation ADD COLUMN fingerprint TEXT;   -- likewise
