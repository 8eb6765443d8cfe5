-- The best evaluation of a model whose accuracy says little, as a language model's.
ALTER TABLE trial ADD COLUMN lowest_test_loss REAL;

UPDATE trial SET lowest_test_loss = (
    SELECT min(json_extract(e.json, '$.loss')) FROM event e
    WHERE e.trial = trial.id AND e.kind = 'eval_done' AND NOT EXISTS (
        SELECT 1 FROM attempt later
        WHERE later.trial = e.trial AND later.number > e.attempt AND later.from_step < e.step));
