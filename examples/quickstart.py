"""An agent that remembers, from an empty folder: no key, no server, no network."""

from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, ConsolidateOnIdle, MemoryState, RecallBeforePlan

memory = HindsightMemory.open("./memory")


def agent(state: MemoryState):
    prompt = memory.prompt(state["messages"], state["recollection"])  # what your chat model would be given
    return {"messages": [AIMessage(f"(a model would answer from these {len(prompt)} messages)\n{state['recollection'].text}")]}


builder = StateGraph(MemoryState)
builder.add_sequence(
    [("recall", RecallBeforePlan(memory)), ("agent", agent), ("annotate", AnnotateAfterStep(memory)), ("idle", ConsolidateOnIdle(memory))]
)
builder.add_edge(START, "recall")
graph = builder.compile(checkpointer=memory.checkpointer())
for thread, text in (("t1", "I'm allergic to peanuts, remember that."), ("t2", "What must I not eat?")):
    state = graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread, "user_id": "alice"}})
    print(f"{text}\n  {state['messages'][-1].text}")
