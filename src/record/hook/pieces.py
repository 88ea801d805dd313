# SPDX-License-Identifier: MIT
"""
Where a program's source says that it works in pieces: loops over range(a, b, STEP) and over .split(STEP), and min(n, LIMIT). What is
allocated there stops to grow at a size that recordings of less than one piece do not show. A loop in which optimizers step is none: its
turns are batches, and STEP is their size.

Nothing is run: a number stands there, or is an integer that a module gives that name once. Python 3.8 and newer.
"""
import ast
import re
import sys

MAY_HAVE_PIECES = re.compile(r"\bmin\(|\bsplit\(|\brange\(")
MOST_PLACES = 4096
_found_in = {}  # path: what _Finder found there; a process asks at each dump


def _is_number(value):
    return type(value) is int and 0 < value < 1 << 62


class _Finder(ast.NodeVisitor):
    """found: (first line, last line, line of the loop, limits, is it a loop). A limit is a number, a name, or 0: not known."""

    def __init__(self, changed):
        self.hidden = [changed]  # and for each function around: the names of its own
        self.found = []

    def number(self, node):
        if isinstance(node, ast.Constant):
            return node.value if _is_number(node.value) else 0
        if isinstance(node, ast.Name) and not any(node.id in names for names in self.hidden):
            return node.id
        return 0

    def limit_of(self, call):
        """Of the pieces over which a loop goes; None: it goes over something else."""
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if name == "range" and len(call.args) == 3:
            step = call.args[2]
        elif name == "split" and call.args:
            is_function = isinstance(call.func, ast.Name) or getattr(call.func.value, "id", "") == "torch"
            step = call.args[1 if is_function and len(call.args) > 1 else 0]
        else:
            return None
        if isinstance(step, (ast.UnaryOp, ast.List, ast.Tuple, ast.JoinedStr)):
            return None  # backwards; so many pieces in all
        if isinstance(step, ast.Constant) and (type(step.value) is not int or step.value < 2):
            return None  # a text; one after the other
        return self.number(step)

    def look_at_loop(self, over, line, first, last):
        for call in ast.walk(over):
            limit = self.limit_of(call) if isinstance(call, ast.Call) else None
            if limit is not None:
                self.found.append((first, last, line, (limit,), True))

    def visit_For(self, node):
        self.look_at_loop(node.iter, node.lineno, node.body[0].lineno, node.body[-1].end_lineno)
        self.generic_visit(node)

    def visit_ListComp(self, node):
        for part in node.generators:
            self.look_at_loop(part.iter, node.lineno, node.lineno, node.end_lineno)
        self.generic_visit(node)

    def visit_Call(self, node):
        if getattr(node.func, "id", "") == "min":
            limits = tuple(self.number(argument) for argument in node.args)
            self.found.append((node.lineno, node.end_lineno, node.lineno, limits, False))
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        own = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        own |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self.hidden.append(own)
        self.generic_visit(node)
        self.hidden.pop()

    visit_AsyncFor = visit_For
    visit_GeneratorExp = visit_SetComp = visit_ListComp
    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef


def changed_in(tree):
    """Names that a file gives several values: the last is not that of the loop."""
    seen, changed = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            (changed if node.id in seen else seen).add(node.id)
    return changed


def find_in(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if not MAY_HAVE_PIECES.search(text):
            return []
        tree = ast.parse(text)
        finder = _Finder(changed_in(tree))
        finder.visit(tree)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return finder.found


def limit_among(limits, names, is_loop):
    """With the values that names have by now; None: nothing is limited."""
    known = [limit if type(limit) is int else names.get(limit) for limit in limits]
    numbers = [value if _is_number(value) else 0 for value in known]
    if is_loop:
        return numbers[0]
    return min(filter(None, numbers)) if 0 in numbers and max(numbers) > 1 else None


def places_in(path, names):
    if path not in _found_in:
        _found_in[path] = find_in(path)
    places = {(*lines, limit_among(limits, names, is_loop), is_loop) for *lines, limits, is_loop in _found_in[path]}
    return sorted(place for place in places if place[3] is not None)


def lines_of(paths, step_lines, script):
    """
    For the marks of a recording: "pieces FIRST LAST LOOP LIMIT PATH". step_lines: (path, line) of calls in which optimizers stepped;
    script: the path of __main__, which has no __file__ any more when Python ends.
    """
    modules = {getattr(module, "__file__", None): module for module in list(sys.modules.values())}
    modules[script] = sys.modules.get("__main__")
    lines = []
    for path in sorted(paths):
        found = places_in(path, getattr(modules.get(path), "__dict__", {}))
        steps = [line for own, line in step_lines if own == path]
        lines.extend("pieces %d %d %d %d %s" % (*place, path) for *place, is_loop in found
                     if not (is_loop and any(place[0] <= line <= place[1] for line in steps)))
    return lines[:MOST_PLACES]
