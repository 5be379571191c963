"""A command that takes each option once: the second of two would replace the first without a word.

A number that stands alone is met with the option that it was meant for.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand


class Strict(TyperCommand):
    """A command that refuses an option given twice, unless it is one that may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse repetitions, then parse as usual."""
        if not ctx.resilient_parsing:
            _, left, order = self.make_parser(ctx).parse_args(args=list(args))
            if left and left[0].isdigit() and any("-n" in param.opts for param in self.params):
                raise typer.BadParameter(f"{left[0]!r} stands alone: to ask for so many, write -n {left[0]}", ctx=ctx)
            given = Counter(param.opts[0] for param in order if _is_single(param))
            for name, times in given.items():
                if times > 1:
                    raise typer.BadParameter(f"{name} was given {times} times: give it once", ctx=ctx)
        return super().parse_args(ctx, args)


def _is_single(param: Any) -> bool:
    """Whether a parameter is an option with one value."""
    return param.param_type_name == "option" and not (param.multiple or param.is_flag or param.count)
