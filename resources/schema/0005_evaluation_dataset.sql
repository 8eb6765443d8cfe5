-- Which kind of data an evaluation was asked about: `data` may be a path, which does not say how it was read.
ALTER TABLE evaluation ADD COLUMN dataset TEXT;       -- its id; NULL: of before it was kept, where it cannot be told

-- What has no slash is an id; a path that is the trial's own was read as the trial reads it.
UPDATE evaluation SET dataset = CASE
    WHEN data = '' THEN NULL
    WHEN instr(data, '/') = 0 THEN data
    ELSE (SELECT t.dataset FROM trial t
          WHERE t.id = evaluation.trial
            AND CASE WHEN json_valid(t.spec_json)
                     THEN json_extract(t.spec_json, '$.dataset.path') = evaluation.data END)
END;
