"""Run against the installed wheel, without the source tree: what was shipped is enough to remember and to recall."""

import tempfile
from importlib import metadata, resources

import hindsight_langgraph
from hindsight_langgraph import HindsightMemory

assert "site-packages" in hindsight_langgraph.__file__, hindsight_langgraph.__file__
shipped = {entry.name for entry in resources.files("hindsight_langgraph").joinpath("data").iterdir()}
assert {"demo.json", "heads-words.json"} <= shipped, shipped
assert resources.files("hindsight_langgraph").joinpath("py.typed").is_file()
templates = resources.files("hindsight_langgraph").joinpath("templates")
assert all(templates.joinpath(name, "langgraph.json").is_file() for name in ("personal", "support", "coding"))
with tempfile.TemporaryDirectory() as path, HindsightMemory.open(path) as memory:
    memory.remember([("user", "I'm allergic to peanuts, remember that.")], scope="alice")
    assert "peanuts" in memory.recall("What must I not eat?", scope="alice").text
    assert memory.recall("What must I not eat?", scope="bob").text == ""
print(f"wheel {metadata.version('langgraph-hindsight')}: 1 passed, 0 failed")
