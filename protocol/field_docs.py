"""Reads the docstrings under the fields of structs; Python itself does not keep them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType


def read_field_docs(module: ModuleType) -> dict[tuple[str, str], str]:
    """Return the docstring under each annotated field in `module`, on one line, by class and field.

    It is empty where the source text of the program is unavailable.
    """
    try:
        tree = ast.parse(inspect.getsource(module))
    except OSError:
        return {}
    docs = {}
    for owner in tree.body:
        if not isinstance(owner, ast.ClassDef):
            continue
        for field, below in zip(owner.body, owner.body[1:], strict=False):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    docs[owner.name, name] = " ".join(text.split())
    return docs
