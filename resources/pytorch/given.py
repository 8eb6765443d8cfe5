WEIGHTS_REMEDY = "give --weights what `lockstep export-weights` or --save writes, or a checkpoint of this model"
ORDER_REMEDY = "give --order a file with numbers of samples"


def refuse(what, remedy):
    """Ends the script: a line for whoever gave it what it cannot take."""
    print(f"{Path(sys.argv[0]).name}: {what}; {remedy}", file=sys.stderr)
    sys.exit(2)


@contextlib.contextmanager
def reading(path, remedy):
    """What cannot be read is told without a traceback."""
    try:
        yield
    except OSError as error:
        refuse(f"{error.filename or path} cannot be read: {error.strerror or error}", remedy)
    except (EOFError, LookupError, ValueError) as error:
        refuse(f"{path} cannot be read: {error}", remedy)


def require(path, remedy):
    """That it is there, before anything begins."""
    with reading(path, remedy):
        if not path or not Path(path).exists():
            refuse(f"{path} does not exist" if path else "where the data are is not known", remedy)
#if files


def refuse_data(path, what):
    refuse(f"{path} {what}", DATA_REMEDY)
#end
