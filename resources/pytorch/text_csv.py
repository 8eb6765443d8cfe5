#include held_out.py


#include text_file.py


#include labelled_texts.py


def rows_of(file):
    """(text, label) of a table whose first line names the columns."""
    csv.field_size_limit(2**31 - 1)
    lines = io.StringIO(text_of(file).decode(), newline="")
    rows = [row for row in csv.reader(lines, delimiter="\t" if file.suffix.lower() == ".tsv" else ",") if row]
    text, label = rows[0].index(TEXT_COLUMN), rows[0].index(LABEL_COLUMN)
    return [(row[text].encode(), CLASSES.index(row[label])) for row in rows[1:]]


def read_data(path):
    """Texts of training and test: files of their own, or a share of each class is held out."""
    train, test = path, None
    if path.is_dir():
        tables = {each: [path / (each + end) for end in (".csv", ".tsv")] for each in ("train", "test")}
        train, test = (next((file for file in tables[each] if file.exists()), None) for each in ("train", "test"))
    rows = rows_of(train)
    if test:
        return tokens_of(rows), tokens_of(rows_of(test))
    splits = [], []
    for label in range(len(CLASSES)):
        members = [row for row in rows if row[1] == label]
        for row, is_held_out in zip(members, held_out([text for text, _ in members])):
            splits[is_held_out].append(row)
    return tokens_of(splits[0]), tokens_of(splits[1])
