#include held_out.py


#include text_file.py


#include labelled_texts.py


DATA_REMEDY = (
    f'give --data a CSV or TSV file with the columns "{TEXT_COLUMN}" and "{LABEL_COLUMN}",'
    " or a folder with train.csv and test.csv"
)


def cells_of(file):
    csv.field_size_limit(2**31 - 1)
    lines = io.StringIO(text_of(file).decode(), newline="")
    try:
        return [row for row in csv.reader(lines, delimiter="\t" if file.suffix.lower() == ".tsv" else ",") if row]
    except csv.Error as error:
        refuse_data(file, f"is no table: {error}")


def rows_of(file):
    """(text, label) of a table whose first line names the columns."""
    header, *rows = cells_of(file) or [[]]
    for column in (TEXT_COLUMN, LABEL_COLUMN):
        if column not in header:
            refuse_data(file, f'has no column "{column}"')
    text, label = header.index(TEXT_COLUMN), header.index(LABEL_COLUMN)
    for row in rows:
        if len(row) <= max(text, label):
            refuse_data(file, f"has a row of {len(row)} cells, where the first has {len(header)}")
        if row[label] not in CLASSES:
            refuse_data(file, f"has a label that the model does not know: {row[label]!r}")
    return [(row[text].encode(), CLASSES.index(row[label])) for row in rows]


def read_data(path):
    """Texts of training and test: files of their own, or a share of each class is held out."""
    train, test = path, None
    if path.is_dir():
        tables = {each: [path / (each + end) for end in (".csv", ".tsv")] for each in ("train", "test")}
        train, test = (next((file for file in tables[each] if file.exists()), None) for each in ("train", "test"))
        if not train:
            refuse_data(path, "has neither train.csv nor train.tsv")
    rows = rows_of(train)
    if test:
        return tokens_of(rows), tokens_of(rows_of(test))
    splits = [], []
    for label in range(len(CLASSES)):
        members = [row for row in rows if row[1] == label]
        for row, is_held_out in zip(members, held_out([text for text, _ in members])):
            splits[is_held_out].append(row)
    return tokens_of(splits[0]), tokens_of(splits[1])
