"""``ridgeway serve``: the campaign as a page that stays open."""

from __future__ import annotations

from typing import Annotated

import typer

from ridgeway.campaign import telling
from ridgeway.cli import numbers
from ridgeway.cli.common import DEFAULT, Name, Target, Where, opened, say
from ridgeway.cli.signals import Signals
from ridgeway.errors import CampaignError


def serve(
    host: Annotated[str, typer.Option("--host", help="0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any that is free.", **numbers.whole(0))] = 8765,
    read_only: Annotated[bool, typer.Option("--read-only", help="The page shows all and takes nothing.")] = False,
    target: Target = None,
    where: Where = DEFAULT,
    name: Name = None,
) -> None:
    """Show the campaign as a page that stays open: enter results there, and see them wherever it is open.

    Only this machine can open it, with the address that is printed: its token is the key. Ctrl-C ends it.

    \b
    Examples:
      ridgeway serve
      ridgeway serve --port 9000 --read-only
      ridgeway serve --target-error 0.5
    """
    try:
        from ridgeway.serve.server import Server
    except ModuleNotFoundError as error:
        raise CampaignError(f"the page needs {error.name}, which is missing: pip install 'ridgeway[serve]'") from None
    if port > 65535:
        raise CampaignError(f"--port must be at most 65535, got {port}")
    campaign = opened(where, name)
    targets = telling.targets(campaign.setup.outputs, numbers.by_name(target, "--target-error"))
    server = Server(campaign, host, port, read_only, targets or None)
    rights = "see" if read_only else "see and change"
    if server.is_open:
        say(
            f"Open to every machine that reaches this one. Whoever has an address below may {rights} the campaign; "
            "nothing is encrypted, so use it only in a network you trust."
        )
    print(f"Campaign {campaign.name!r} is at", *server.addresses, sep="\n  ", flush=True)
    say("Ctrl-C ends it.")
    with Signals(server.stop):
        server.run()
    say("Stopped.")
