"""Completing inflection tables with a joint model of all their cells.

`ParadigmModel` learns from tables and completes them; `read_table` reads files, `evaluate` scores
what came out. The command line is in `paradigms.cli`.
"""

from paradigms.evaluate import Evaluation, evaluate
from paradigms.lexemes import Candidate, Lexeme
from paradigms.model import ModelFileError, ParadigmModel
from paradigms.tables import (
    Table,
    TableError,
    candidates_frame,
    completed_frame,
    frame_to_lexemes,
    read_table,
)

__all__ = [
    "Candidate",
    "Evaluation",
    "Lexeme",
    "ModelFileError",
    "ParadigmModel",
    "Table",
    "TableError",
    "candidates_frame",
    "completed_frame",
    "evaluate",
    "frame_to_lexemes",
    "read_table",
]
