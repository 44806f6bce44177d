"""The MCP server as clients of the official SDK see it, each server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

from hindsight_langgraph.bearer_tokens import Tokens, read_tokens
from hindsight_langgraph.cli import app
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.memory import HindsightMemory
from tests.memory.opening import open_memory
from tests.servers import PATIENCE_S, comes_true, reserved_port

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"
TOKENS = {"alice": "alice-token-0123456789", "bob": "bob-token-0123456789-x"}
COMMAND = ["-c", "from hindsight_langgraph.cli import run; run()", "mcp"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An embedded memory that holds one fact of alice."""
    with open_memory(tmp_path) as memory:
        memory.remember([("user", FACT)], scope="alice")
    return tmp_path / "memory"


def environment(path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "PYTHONPATH": ":".join(entry for entry in sys.path if entry), "HINDSIGHT_EMBEDDINGS": "hash",
        "HINDSIGHT_PATH": str(path), "HINDSIGHT_TIMEOUT_S": str(PATIENCE_S), "PYTHONWARNINGS": "ignore",
    }  # fmt: skip


def stdio(path: Path, user: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[*COMMAND, "--user", user], env=environment(path))


def structured(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return dict(result.structured_content)


async def test_a_client_over_stdio_searches_writes_and_forgets(path: Path):
    async with Client(stdio(path, "alice")) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"memory_search", "memory_write", "memory_forget"}
        assert all("Use it" in (tool.description or "") for tool in tools)
        assert all("user" not in tool.input_schema["properties"] for tool in tools)
        (known,) = structured(await client.call_tool("memory_search", {"query": ASKED}))["memories"]
        assert known["content"] == FACT
        written = structured(await client.call_tool("memory_write", {"text": "My locker number is 42."}))
        assert written["waits"] is False
        (fate,) = written["memories"]
        assert "42" in structured(await client.call_tool("memory_search", {"query": "locker number?"}))["memories"][0]["content"]
        gone = structured(await client.call_tool("memory_forget", {"ids": [fate["id"], "no-such-id"]}))
        assert gone == {"forgotten": [fate["id"]], "unknown": ["no-such-id"]}
        again = structured(await client.call_tool("memory_search", {"query": "locker number?"}))
        assert fate["id"] not in {memory["id"] for memory in again["memories"]}


async def test_a_note_that_no_rule_would_keep_is_kept_since_it_was_asked_for(path: Path):
    async with Client(stdio(path, "alice")) as client:
        (fate,) = structured(await client.call_tool("memory_write", {"text": "Deploy with make release, then tag."}))["memories"]
        found = structured(await client.call_tool("memory_search", {"query": "How do we deploy and tag a release?"}))["memories"]
    assert fate["content"] == "Deploy with make release, then tag."
    assert fate["id"] in {memory["id"] for memory in found}


async def test_memories_are_resources(path: Path):
    async with Client(stdio(path, "alice")) as client:
        listed = json.loads((await client.read_resource("memory://units")).contents[0].text)  # type: ignore[union-attr] # JSON is text
        (unit,) = listed["memories"]
        one = json.loads((await client.read_resource(f"memory://units/{unit['id']}")).contents[0].text)  # type: ignore[union-attr] # JSON is text
        assert one["content"] == FACT
        assert "owner" not in one
        with pytest.raises(MCPError, match="no memory 'missing'"):
            await client.read_resource("memory://units/missing")


async def test_another_user_of_the_same_store_sees_and_forgets_nothing_of_it(path: Path):
    with HindsightMemory.open(path, embeddings="hash") as memory:
        (unit,) = memory.units(scope="alice")
    async with Client(stdio(path, "bob")) as client:
        assert structured(await client.call_tool("memory_search", {"query": ASKED}))["memories"] == []
        assert structured(await client.call_tool("memory_forget", {"ids": [unit.id]}))["unknown"] == [unit.id]
        with pytest.raises(MCPError, match="no memory"):
            await client.read_resource(f"memory://units/{unit.id}")
    with HindsightMemory.open(path, embeddings="hash") as memory:
        assert [kept.id for kept in memory.units(scope="alice")] == [unit.id]


MALFORMED: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {}),
    ("memory_search", {"query": ""}),
    ("memory_search", {"query": "x" * 5_000}),
    ("memory_search", {"query": ASKED, "limit": 0}),
    ("memory_search", {"query": {"nested": 1}}),
    ("memory_write", {"text": None}),
    ("memory_forget", {"ids": "all"}),
    ("memory_forget", {"ids": []}),
    ("memory_erase", {}),
]


async def test_malformed_calls_are_answered_as_errors_and_the_server_goes_on(path: Path):
    async with Client(stdio(path, "alice")) as client:
        for tool, arguments in MALFORMED:
            try:
                refused = (await client.call_tool(tool, arguments)).is_error
            except MCPError:
                refused = True
            assert refused, (tool, arguments)
        assert structured(await client.call_tool("memory_search", {"query": ASKED}))["memories"]


async def test_fifty_calls_at_once_are_all_answered(path: Path):
    async with Client(stdio(path, "alice")) as client:
        calls = [client.call_tool("memory_write", {"text": f"My locker number in hall {n} is {n + 40}."}) for n in range(25)]
        calls += [client.call_tool("memory_search", {"query": ASKED}) for _ in range(25)]
        answers = [structured(answer) for answer in await asyncio.gather(*calls)]
    assert all(answer["memories"] for answer in answers[:25])
    assert all(answer["memories"][0]["content"] == FACT for answer in answers[25:])
    with HindsightMemory.open(path, embeddings="hash") as memory:
        told = " ".join(unit.content for unit in memory.units(scope="alice"))
    assert all(str(n + 40) in told for n in range(25))


def rpc(number: int | None, method: str, **params: Any) -> bytes:
    request: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(request if number is None else {**request, "id": number}).encode() + b"\n"


HELLO = rpc(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})


def test_stdout_carries_the_protocol_and_nothing_else(path: Path):
    requests = [
        HELLO, rpc(None, "notifications/initialized"), b"this is no JSON\n", rpc(2, "tools/call", name="memory_search", arguments={"query": 7}),
        rpc(3, "tools/call", name="memory_write", arguments={"text": "My locker number is 42."}), rpc(4, "no/such/method"),
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, *COMMAND, "--user", "alice"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(path),
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        server.stdin.write(b"".join(requests))
        server.stdin.flush()
        lines: list[dict[str, Any]] = []
        while not {line.get("id") for line in lines} >= {1, 2, 3, 4}:  # a server whose input ends answers no more
            lines.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        lines += [json.loads(line) for line in server.stdout.read().splitlines()]
        assert server.wait(timeout=PATIENCE_S) == 0
    assert all(line["jsonrpc"] == "2.0" for line in lines)


def test_a_fault_in_the_settings_goes_to_stderr():
    done = subprocess.run(
        [sys.executable, *COMMAND, "--http"], capture_output=True, text=True, check=False, env=environment(Path("unused"))
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "--tokens" in done.stderr


def test_a_client_that_is_killed_loses_nothing_that_was_acknowledged_and_the_server_ends(path: Path, tmp_path: Path):
    client = f"""
import subprocess, sys, time
server = subprocess.Popen({[sys.executable, *COMMAND, "--user", "alice"]!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={environment(path)!r})
server.stdin.write({HELLO + rpc(None, "notifications/initialized") + rpc(2, "tools/call", name="memory_write", arguments={"text": "My locker number is 42."})!r})
server.stdin.flush()
server.stdout.readline(), server.stdout.readline()
print(server.pid, flush=True)
time.sleep(3_600)
"""
    with subprocess.Popen([sys.executable, "-c", client], stdout=subprocess.PIPE) as killed:
        assert killed.stdout
        server = int(killed.stdout.readline())
        killed.send_signal(signal.SIGKILL)
    assert comes_true(lambda: not alive(server))
    with HindsightMemory.open(path, embeddings="hash") as memory:
        assert any("42" in unit.content for unit in memory.units(scope="alice"))


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


# --- streamable HTTP -----------------------------------------------------------------------------------------------------


@pytest.fixture
def url(path: Path, tmp_path: Path) -> Iterator[str]:
    """A server over HTTP with a token for alice and one for bob."""
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps(TOKENS))
    with reserved_port() as port, subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", str(port), "--tokens", str(tokens)], env=environment(path), stdout=subprocess.PIPE
    ) as server:  # fmt: skip
        assert comes_true(lambda: listening(port) or server.poll() is not None)
        yield f"http://127.0.0.1:{port}/mcp"
        server.send_signal(signal.SIGINT)
        assert server.stdout
        assert server.stdout.read() == b""


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def call(url: str, user: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKENS[user]}"}, timeout=PATIENCE_S) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return structured(await client.call_tool(tool, arguments))


async def test_over_http_each_token_reaches_its_own_users_memory_even_at_once(url: str):
    asked: list[Any] = [call(url, user, "memory_search", {"query": ASKED}) for _ in range(25) for user in ("alice", "bob")]
    answers = await asyncio.gather(*asked)
    assert all(answer["memories"][0]["content"] == FACT for answer in answers[::2])
    assert all(answer["memories"] == [] for answer in answers[1::2])
    assert (await call(url, "bob", "memory_write", {"text": "I prefer aisle seats on trains."}))["memories"]
    assert [m["content"] for m in (await call(url, "alice", "memory_search", {"query": ASKED}))["memories"]] == [FACT]


async def test_over_http_nobody_gets_in_without_a_token(url: str):
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {TOKENS['alice']}"},
            {"X-User": "alice"},
        ):
            answer = await http.post(url, content=HELLO, headers={**headers, "Accept": "application/json, text/event-stream"})
            assert answer.status_code == 401
            assert FACT not in answer.text


async def test_over_http_a_session_of_one_user_is_closed_to_another(url: str):
    hello = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        opened = await http.post(url, content=HELLO, headers={**hello, "Authorization": f"Bearer {TOKENS['alice']}"})
        session = opened.headers["mcp-session-id"]
        stolen = await http.post(
            url, content=rpc(2, "tools/call", name="memory_search", arguments={"query": ASKED}),
            headers={**hello, "Authorization": f"Bearer {TOKENS['bob']}", "Mcp-Session-Id": session},
        )  # fmt: skip
    assert stolen.status_code >= 400
    assert FACT not in stolen.text


async def test_over_http_a_client_that_goes_away_in_the_middle_leaves_the_server_to_the_others(url: str):
    going = asyncio.create_task(call(url, "alice", "memory_search", {"query": ASKED}))
    await asyncio.sleep(0.05)
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)
    assert (await call(url, "alice", "memory_search", {"query": ASKED}))["memories"]


BUSY_CLIENT = """
import asyncio, itertools, sys, httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main(url, token):
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=None) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        halls = itertools.count()

        async def write_on():
            for n in halls:
                await client.call_tool("memory_write", {"text": f"My locker number in hall {n} is {n + 40}."})
                print("answered", flush=True)

        await asyncio.gather(*(write_on() for _ in range(20)))

asyncio.run(main(*sys.argv[1:]))
"""


def kill_a_busy_client(url: str, user: str) -> None:
    """A client in a process of its own that has twenty calls under way until it is killed."""
    command = [sys.executable, "-W", "ignore", "-c", BUSY_CLIENT, url, TOKENS[user]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        assert client.stdout
        assert client.stdout.readline() == b"answered\n"
        client.kill()
        assert client.wait() == -signal.SIGKILL


async def test_over_http_a_client_that_is_killed_in_the_middle_of_its_calls_leaves_the_server_to_the_others(url: str):
    async def others() -> list[dict[str, Any]]:
        return [await call(url, user, "memory_search", {"query": ASKED}) for _ in range(5) for user in ("alice", "bob")]

    killing = [asyncio.to_thread(kill_a_busy_client, url, "bob") for _ in range(2)]
    answers, *_ = await asyncio.gather(others(), *killing)
    assert all(answer["memories"][0]["content"] == FACT for answer in answers[::2])
    assert (await call(url, "alice", "memory_write", {"text": "My bicycle is green."}))["memories"]
    locker = await call(url, "bob", "memory_search", {"query": "What is my locker number in hall 3?", "limit": 20})
    assert locker["memories"]
    told = re.compile(r"My locker number in hall (\d+) is (\d+)\.")
    for memory in locker["memories"]:
        match = told.fullmatch(memory["content"])
        assert match, "a note that was cut off is stored whole or not at all"
        assert int(match[2]) == int(match[1]) + 40


@pytest.mark.parametrize(
    "content",
    ["[]", "{}", '{"alice": "short"}', '{"": "0123456789abcdef"}', '{"a": "0123456789abcdef", "b": "0123456789abcdef"}', "{"],
)
def test_a_token_file_that_would_let_someone_in_by_accident_is_refused(tmp_path: Path, content: str):
    file = tmp_path / "tokens.json"
    file.write_text(content)
    with pytest.raises(ConfigError):
        read_tokens(file)


def test_a_token_names_its_user_and_nothing_else_does():
    tokens = Tokens(TOKENS)
    assert tokens.user_of(TOKENS["bob"]) == "bob"
    assert tokens.user_of("bob") is None
    assert tokens.user_of("") is None


def test_the_command_says_what_it_needs():
    assert "bearer token per user" in CliRunner().invoke(app, ["mcp", "--help"], env={"COLUMNS": "200"}).output
