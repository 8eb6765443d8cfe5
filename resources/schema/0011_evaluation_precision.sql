-- What an evaluation was computed in, which need not be what the trial trained in: its devices may not offer that.
ALTER TABLE evaluation ADD COLUMN precision TEXT;     -- "fp32", "bf16", …; NULL: of before it was kept
