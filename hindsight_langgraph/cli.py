"""The `hindsight` command."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import CallError, HindsightError

if TYPE_CHECKING:
    from hindsight_langgraph.training.deployment import Part

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="Memory for LangGraph agents.")
console = Console()

PathOption = Annotated[
    Path | None, typer.Option("--path", help="Directory of the embedded memory; HINDSIGHT_* settings otherwise.")
]
UserOption = Annotated[str, typer.Option("--user", help="Whose memory.")]


def run() -> None:
    """Run the command; an error of the library is a message, not a traceback."""
    try:
        app()
    except HindsightError as error:
        console.print(f"[red]{type(error).__name__}[/]: {escape(str(error))}")
        sys.exit(1)


@app.command()
def demo(path: Annotated[Path, typer.Option("--path", help="Where the demo's memory lies.")] = Path("hindsight-demo")) -> None:
    """Replay a conversation of several weeks through an agent with memory, then ask what it remembers."""
    from hindsight_langgraph.demo.run import run_demo

    raise typer.Exit(run_demo(path, console=console))


@app.command()
def chat(
    path: PathOption = None,
    user: UserOption = "me",
    thread: Annotated[str, typer.Option("--thread", help="Name of the conversation.")] = "chat",
) -> None:
    """Talk to an agent with memory. Without a chat model it answers from its recollection, and says so."""
    from hindsight_langgraph.demo.chat import run_chat

    run_chat(_settings(path), user=user, thread=thread, console=console)


@app.command()
def show(
    path: PathOption = None,
    user: UserOption = "me",
    everything: Annotated[bool, typer.Option("--all", help="Superseded memories too.")] = False,
) -> None:
    """List what is remembered of a user."""
    from hindsight_langgraph.memory import HindsightMemory
    from hindsight_langgraph.records import Status

    with HindsightMemory.open(config=_settings(path)) as memory:
        units = memory.units(scope=user, statuses=None if everything else (Status.ACTIVE,))
    table = Table("said", "region", "kind", "status", "importance", "memory")
    for unit in sorted(units, key=lambda unit: unit.moment):
        table.add_row(
            f"{unit.moment:%Y-%m-%d}", unit.region, unit.kind, unit.status, f"{unit.importance:.2f}", escape(unit.content)
        )
    console.print(table)
    console.print(
        ", ".join(f"{count} {region}" for region, count in Counter(unit.region for unit in units).items()) or "nothing yet"
    )


@app.command()
def health(path: PathOption = None, user: UserOption = "me") -> None:
    """Show the state of a user's memory, and what to do about it."""
    from hindsight_langgraph.memory import HindsightMemory

    with HindsightMemory.open(config=_settings(path)) as memory:
        for line in memory.health(scope=user).lines():
            console.print(line, markup=False, highlight=False)


@app.command()
def consolidate(
    *,
    path: PathOption = None,
    user: UserOption = "me",
    light: Annotated[bool, typer.Option("--light", help="Only duplicates and importance.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Look at every memory, not only at what changed.")] = False,
    only: Annotated[list[str] | None, typer.Option("--pass", help="Only this pass; may be given several times.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Put a user's memory in order, now: merge, supersede, sum up, promote, forget."""
    from hindsight_langgraph.memory import HindsightMemory

    with HindsightMemory.open(config=_settings(path)) as memory:
        report = memory.consolidate(
            scope=user, level="light" if light else "full", passes=only, everything=everything, dry_run=dry_run
        )
        for line in report.lines():
            console.print(line, markup=False, highlight=False)


@app.command()
def forget(
    words: Annotated[str, typer.Argument(help="What to forget, in words.")], path: PathOption = None, user: UserOption = "me"
) -> None:
    """Forget for good: `hindsight forget "what I told you about my phone"`."""
    from hindsight_langgraph.consolidation.forget_request import read_forget_request
    from hindsight_langgraph.memory import HindsightMemory

    asked = words if read_forget_request(words) is not None else f"forget {words}"
    with HindsightMemory.open(config=_settings(path)) as memory:
        console.print(f"{memory.forget_that(asked, scope=user)} memories forgotten")


@app.command()
def reembed(path: PathOption = None) -> None:
    """Embed every memory anew after the embedding model was changed. It can be stopped and started again."""
    from hindsight_langgraph.memory import HindsightMemory

    with HindsightMemory.open(config=_settings(path)) as memory, console.status("embedding"):
        done = memory.reembed()
    console.print(f"{done} memories embedded")


@app.command("export")
def export_(
    file: Annotated[Path, typer.Argument(help="JSON lines, with vectors.")],
    path: PathOption = None,
    user: Annotated[str | None, typer.Option("--user", help="One user; everybody without it.")] = None,
) -> None:
    """Write every memory to a file that `import` reads, whatever the store."""
    from hindsight_langgraph.memory import HindsightMemory

    with HindsightMemory.open(config=_settings(path)) as memory, file.open("wb") as out:
        lines = sum(out.write(line + b"\n") > 0 for line in memory.export_lines(scope=user))
    console.print(f"{lines - 1} memories written to {file}")


@app.command("import")
def import_(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)], path: PathOption = None) -> None:
    """Read a file that `export` wrote. Doing it twice does no harm."""
    from hindsight_langgraph.memory import HindsightMemory

    with HindsightMemory.open(config=_settings(path)) as memory, file.open("rb") as lines:
        console.print(f"{memory.import_lines(lines)} memories stored")


@app.command()
def train(
    path: PathOption = None,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="Whose judged tasks to learn from; may be given more than once.")
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="Go back to what was in use before.")] = False,
    only: Annotated[str | None, typer.Option("--only", help="adapter or ranker; both where there is enough, without it.")] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write triplets for sentence-transformers, and fit nothing.")
    ] = None,
) -> None:
    """Learn from finished tasks how to search for what helps, and how to rank it in each domain. What does not help is refused."""
    from hindsight_langgraph.memory import HindsightMemory
    from hindsight_langgraph.training.adapter import export_triplets

    parts: dict[str | None, Part | None] = {None: None, "adapter": "adapter", "ranker": "ranker"}
    if only not in parts:
        raise CallError(f"--only {only}: say adapter or ranker")
    part = parts[only]
    with HindsightMemory.open(config=_settings(path)) as memory:
        if back:
            version = memory.untrain()
            console.print("searching by the embedding as it is" if version is None else f"version {version} is in use")
            return
        users = user or ["me"]
        if export is not None:
            lines = list(export_triplets([example for name in users for example in memory.training_set(scope=name)]))
            export.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            console.print(f"{len(lines)} triplets written to {export}")
            return
        trained = memory.train(scopes=users, only=part)
    for line in trained.lines():
        console.print(line, markup=False, highlight=False)
    console.print("nothing changes" if trained.version is None else f"version {trained.version} is in use")


@app.command("train-heads")
def train_heads(
    labels: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Holds dialogues/*.json with labelled memories.")],
    path: PathOption = None,
) -> None:
    """Fit the small heads that decide what to keep to the configured embedding model; they are used from then on."""
    from hindsight_langgraph.encoding.heads import heads_name
    from hindsight_langgraph.models.embedders import embedder_from_config
    from hindsight_langgraph.training.heads import train_heads as fit

    config = _settings(path)
    embedder = embedder_from_config(config)
    with console.status("embedding and fitting"):
        heads = fit(labels, embedder if embedder.semantic else None)
    config.path.mkdir(parents=True, exist_ok=True)
    file = config.path / heads_name(heads.space)
    file.write_text(heads.to_json(), encoding="utf-8")
    console.print(f"heads learnt from {len(heads.dialogues)} dialogues, written to {file}")


@app.command("train-router")
def train_router(
    rows: Annotated[
        Path | None, typer.Option("--rows", exists=True, help="JSON lines with query and region, beside the shipped examples.")
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="Whose judged tasks to learn from as well; may be given more than once.")
    ] = None,
    path: PathOption = None,
) -> None:
    """Fit the head that sends a question to its region to the configured embedding model; it is used from then on.

    Judged tasks teach what was asked and in which region lay what helped.
    """
    import numpy as np

    from hindsight_langgraph.memory import HindsightMemory
    from hindsight_langgraph.models.embedders import embedder_from_config
    from hindsight_langgraph.recall.route_head import head_name
    from hindsight_langgraph.training.router import judged_examples, read_examples, shipped_examples
    from hindsight_langgraph.training.router import train_router as fit

    config = _settings(path)
    embedder = embedder_from_config(config)
    examples = [*shipped_examples(), *(read_examples(rows) if rows else [])]
    if user:
        with HindsightMemory.open(config=config) as memory:
            examples += judged_examples([example for name in user for example in memory.training_set(scope=name)])
    with console.status("embedding and fitting"):
        head = fit(
            examples,
            embed=lambda texts: np.asarray(embedder.embed(tuple(texts), purpose="query"), dtype=np.float32),
            model=embedder.space.model,
        )
    config.path.mkdir(parents=True, exist_ok=True)
    file = config.path / head_name(embedder.space.model)
    head.save(file)
    console.print(f"route head learnt from {len(examples)} questions, written to {file}")


@app.command()
def doctor(path: PathOption = None) -> None:
    """Check the installation, the settings and the stores; say what to do about each fault."""
    from hindsight_langgraph.doctor import examine

    findings = examine(_settings(path))
    for finding in findings:
        console.print(
            f"{'[green]ok[/]  ' if finding.ok else '[red]bad[/] '} {escape(finding.what)}"
            + ("" if finding.ok else f"\n     {escape(finding.remedy)}")
        )
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def mcp(
    *,
    path: PathOption = None,
    user: Annotated[str, typer.Option("--user", help="Over stdio: whose memory.")] = "me",
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdin and stdout.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.")] = 8000,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            envvar="HINDSIGHT_MCP_TOKENS",
            help='JSON file with one bearer token per user: {"alice": "…"}.',
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Serve the memory to MCP clients. Over stdio, nothing but the protocol goes to stdout."""
    from hindsight_langgraph import mcp_server
    from hindsight_langgraph.bearer_tokens import read_tokens
    from hindsight_langgraph.memory import HindsightMemory

    try:
        allowed = read_tokens(tokens) if http else None
        with HindsightMemory.open(config=_settings(path)) as memory:
            if allowed is None:
                mcp_server.serve_stdio(memory, user=user)
            else:
                address = f"http://{host}:{port}/mcp"
                Console(stderr=True).print(f"serving {address}; Ctrl-C ends it", markup=False, highlight=False, soft_wrap=True)
                mcp_server.serve_http(memory, allowed, host=host, port=port)
    except HindsightError as error:
        Console(stderr=True).print(f"[red]{type(error).__name__}[/]: {escape(str(error))}")
        raise typer.Exit(1) from error


@app.command()
def review(
    project: Annotated[str, typer.Option("--project", help="LangSmith project whose reviewed runs are read.")],
    path: PathOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
) -> None:
    """Learn from reviewed LangSmith runs: thumbs move what was recalled, edited answers become corrections.

    It can be stopped and started again; no review is taken in twice.
    """
    from langsmith import Client
    from rich.progress import track

    from hindsight_langgraph.memory import HindsightMemory
    from hindsight_langgraph.review import review_project

    with HindsightMemory.open(config=_settings(path)) as memory:
        done = review_project(
            memory,
            Client(),
            project,
            dry_run=dry_run,
            progress=lambda left: iter(track(left, "reviews", console=console)),
        )
    table = Table("reviewed", "user", "verdict", "recalled", "correction", "comment", "fate")
    for one in done:
        said = one.review
        verdict = {True: "good", False: "bad", None: "-"}[said.success]
        recalled = "\n".join(unit.content for unit in one.units)
        told = (said.scope.user_id, verdict, recalled, said.correction, said.comment)
        table.add_row(f"{said.at:%Y-%m-%d}", *map(escape, told), one.fate)
    console.print(table)
    console.print(", ".join(f"{count} {fate}" for fate, count in Counter(one.fate for one in done).items()) or "no reviews")


@app.command()
def new(
    name: Annotated[Path, typer.Argument(help="Directory to make.")],
    template: Annotated[str, typer.Option("--template", help="personal, support or coding.")] = "personal",
) -> None:
    """Copy a template: a small project with memory, its tests and a langgraph.json."""
    from hindsight_langgraph.scaffold import TEMPLATES, new_project

    made = new_project(name, template)
    console.print(f"{made}: {TEMPLATES[template]}", markup=False)
    for line in (f"cd {made} && cp .env.example .env && pip install -e '.[dev]'", "langgraph dev    # or: python -m pytest"):
        console.print(line, style="bold", markup=False, highlight=False, soft_wrap=True)


def _settings(path: Path | None) -> HindsightConfig:
    config = HindsightConfig.from_env()
    return config if path is None else config.model_copy(update={"path": path})
