"""An interactive chat with memory, in the terminal."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from rich.console import Console
from rich.markup import escape
from rich.prompt import Prompt

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.demo.agent import build_agent, user_message
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.chat import openai_chat_model


def run_chat(config: HindsightConfig, *, user: str, thread: str, console: Console) -> None:
    """Read lines until an empty one or the end of input; show what each turn left in memory."""
    model = openai_chat_model(config.chat_model, config) if config.chat_model else None
    if model is None:
        console.print("No chat model is configured (HINDSIGHT_CHAT_MODEL): answers come from memory alone.", style="yellow")
    console.print("Say something; an empty line ends.", style="dim")
    with HindsightMemory.open(config=config) as memory:
        reports: list[WriteReport] = []
        memory.on_event(lambda event: reports.append(event) if isinstance(event, WriteReport) else None)
        agent: Any = build_agent(memory, model)
        run: RunnableConfig = {"configurable": {"thread_id": thread, "user_id": user}}
        while line := _read(console):
            state = agent.invoke({"messages": [user_message(line, at=memory.clock.now())]}, run)
            console.print(f"[bold]agent[/] {escape(state['messages'][-1].text)}")
            memory.settle(scope=user)
            for statement in (s for report in reports for turn in report.turns for s in turn.statements):
                console.print(f"   {statement.outcome} {statement.kind}: {statement.content}", style="green", markup=False)
            reports.clear()


def _read(console: Console) -> str:
    try:
        return Prompt.ask("[bold cyan]you[/]", console=console, default="", show_default=False).strip()
    except (EOFError, KeyboardInterrupt):
        return ""
