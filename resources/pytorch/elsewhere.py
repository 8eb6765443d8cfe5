def read_data(path):
    """Fill this in: training and test, each a dictionary of tensors with a row for each sample,
    @FIELDS@."""
    sys.exit("the data of @DATASET_ID@ are not read by this script: fill in read_data()")
