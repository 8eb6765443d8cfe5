"""Compiles each file, and names what its functions read and nothing defines."""
import builtins
import symtable
import sys


def undefined(table, known):
    for symbol in table.get_symbols():
        if symbol.is_global() and symbol.is_referenced() and symbol.get_name() not in known:
            yield symbol.get_name()
    for inner in table.get_children():
        yield from undefined(inner, known)


for file in sys.argv[1:]:
    text = open(file, encoding='utf-8').read()
    compile(text, file, 'exec')
    top = symtable.symtable(text, file, 'exec')
    made = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()}
    for name in sorted(set(undefined(top, made | set(dir(builtins)) | {'__name__'}))):
        print(f'{file}: {name}')
