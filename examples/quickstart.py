"""An agent that remembers, from an empty folder: no key, no server, no network."""

from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, ConsolidateOnIdle, MemoryState, RecallBeforePlan

memory = HindsightMemory.open("./memory")


def agent(state: MemoryState):
    prompt = memory.prompt(state["messages"], state.get("recollection"))  # give this to your chat model
    return {"messages": [AIMessage("\n".join(message.text for message in prompt))]}


builder = StateGraph(MemoryState)
builder.add_node("recall", RecallBeforePlan(memory)).add_node("agent", agent)
builder.add_node("annotate", AnnotateAfterStep(memory)).add_node("idle", ConsolidateOnIdle(memory))
builder.add_edge(START, "recall").add_edge("recall", "agent").add_edge("agent", "annotate").add_edge("annotate", "idle")
graph = builder.compile(checkpointer=memory.checkpointer())

for thread, text in (("monday", "I'm allergic to peanuts, remember that."), ("friday", "What must I not eat?")):
    state = graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread, "user_id": "alice"}})
    print(f"--- {thread}\n{state['messages'][-1].text}")
