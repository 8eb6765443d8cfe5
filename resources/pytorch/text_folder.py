#include held_out.py


#include text_file.py


#include labelled_texts.py


DATA_REMEDY = "give --data a folder with a folder of .txt files for each class, or with train and test that have such"
ENDINGS = {".txt"}
#include class_folders.py


def read_data(path):
    """Texts of training and test."""
    return [tokens_of([(text_of(file), label) for file, label in split]) for split in class_folders(path)]
