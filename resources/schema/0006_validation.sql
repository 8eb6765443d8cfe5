-- The newest evaluation of the validation split, of trials that have one. Theirs are then best_accuracy and
-- lowest_test_loss, too: the best of the split that chooses.
ALTER TABLE trial ADD COLUMN validation_accuracy REAL;
ALTER TABLE trial ADD COLUMN validation_loss     REAL;
