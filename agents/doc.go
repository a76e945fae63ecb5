// Package agents is the agent side of a run: an [Agent] works on a [Task] in rounds of steps, where
// a step is one call of a model through a [Chatter] and the tool calls that the answer asks for. Its
// conversation grows with every step, as that of a real harness does.
//
// # Conversation
//
// The same conversation drives a real model and the simulated one, which plays its part from what it
// is sent:
//
//   - a system message comes first;
//   - each round begins with a user message that has a line such as
//     "Steps: read_message, write, append, save.";
//   - the model answers with a tool call; the k-th call of a round (after k tool results since the
//     last user message) plays the k-th step of that line, counted from 0, and starts over after the
//     last one;
//   - each tool call is answered by a tool message whose content is a JSON object: {"in_range":true}
//     and what the tool has to say, {"in_range":false,…} for a message that does not exist, or
//     {"error":"…"} for a call that could not be made;
//   - a step of whose tool calls none could be made is asked for again, if the workflow has tries left:
//     a user message lists the steps of the round from that one on;
//   - reasoning does not stay in the conversation;
//   - the request's user field is the id of the task.
//
// # Tools
//
// read_message {"message": n} returns message n of the long conversation that the article is about,
// counted from 0. write {"text": …} starts the draft of the article over, append {"text": …} adds to
// it, save {} makes it durable. All three take a "path" too, the name of a file in the task's own
// folder. Unknown arguments are ignored.
//
// # What may go wrong
//
// Besides tools that are slow or do not return, an agent has the mistakes of real harnesses, each off
// unless the workflow or a fault asks for it: locks held across the call ([LockStep]), the two locks
// taken in two orders, results of sub-agents in a mailbox whose bell can be lost or whose error is
// dropped ([ResultsMailbox]), tools that print into a pipe which nobody reads (ToolOutputBytes), and
// steps that are repeated while their tool calls cannot be made (StepTries).
//
// # Draws
//
// Every size and time is drawn from a stream of the world keyed by the task's id, a purpose and the
// number of the call within the task, so that it depends on neither the policy nor on what other
// agents do.
//
// The package may import harness/sim, harness/fault, pacer, agents/workload and go-openai. It waits
// through its world only, except for the file operations of [Directory], which belongs to worlds on
// the wall.
package agents
