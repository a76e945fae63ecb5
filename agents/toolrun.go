package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// toolCallsMax is how many tool calls of one answer are run; the others are refused.
const toolCallsMax = 64

// toolRun is one run of a tool. The zero value is one that was not started.
type toolRun struct {
	tool   string // one of the four, or ToolUnknown
	args   arguments
	path   string        // of the article, within the workspace
	time   time.Duration // that the tool takes
	result string        // JSON for the model
	call   ToolCall      // for the observer
	// Faults that fire:
	hang, lockOrder bool
}

// useTool runs the i-th tool call of the answer and takes the result into the conversation. It says
// whether the call could be made. An error is not the model's fault.
func (a *Agent) useTool(ctx context.Context, i int) (made bool, err error) {
	asked := &a.job.asked[i]
	r := &toolRun{tool: asked.Function.Name}
	if !a.offers(r.tool) {
		r.tool = ToolUnknown // the name is the model's: it may be anything, and goes into labels
	}
	a.enter(pacer.StageTool, r.tool)
	start := a.w.Now()
	err = a.check(r, asked, i)
	if err != nil || asked.Function.Arguments == "" || a.replays() { // else they have been read
		mend(&asked.Function)
	}
	if err == nil {
		a.prepare(r, i)
		err = a.runTool(ctx, r)
	}
	if err := a.settle(r, err); err != nil {
		return false, err
	}
	r.call.Tool, r.call.Took = r.tool, a.w.Now().Sub(start)
	a.say(openai.ChatMessageRoleTool, r.result)
	a.job.messages[len(a.job.messages)-1].ToolCallID = asked.ID
	a.w.Lock()
	a.state.Mistake = r.call.Error
	a.obs.ToolCalled(&a.state, r.call)
	a.w.Unlock()
	return r.call.Error == "", nil
}

func (a *Agent) offers(tool string) bool {
	return slices.ContainsFunc(a.job.tools, func(t openai.Tool) bool { return t.Function.Name == tool })
}

// misuse is a mistake of the model. It is told about it in the result.
type misuse struct{ text string }

func (e misuse) Error() string { return e.text }

func misusef(format string, args ...any) error { return misuse{fmt.Sprintf(format, args...)} }

// check reads the arguments and refuses a call that makes no sense.
func (a *Agent) check(r *toolRun, asked *openai.ToolCall, i int) (err error) {
	switch {
	case a.replays():
		return nil
	case r.tool == ToolUnknown:
		return misusef("there is no tool %s", strconv.QuoteToASCII(shorten(asked.Function.Name)))
	case i >= toolCallsMax:
		return misusef("%s: at most %d tool calls are run of one answer", r.tool, toolCallsMax)
	}
	if r.args, err = parseArguments(asked.Function.Arguments); err != nil {
		return misusef("%s: %v", r.tool, err)
	}
	switch {
	case r.tool == ToolReadMessage && r.args.Message == nil:
		return misusef("%s: argument message is missing", r.tool)
	case (r.tool == ToolWrite || r.tool == ToolAppend) && r.args.Text == nil:
		return misusef("%s: argument text is missing", r.tool)
	}
	return a.locate(r)
}

// mend makes a tool call fit to go back to the server within the conversation. Many servers parse
// earlier calls again, and answer every further request with an error if one of them was cut off.
func mend(c *openai.FunctionCall) {
	if !strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") || !json.Valid([]byte(c.Arguments)) {
		c.Arguments = "{}"
	}
	if c.Name == "" || len(c.Name) > nameBytesMax || strings.IndexFunc(c.Name, func(r rune) bool { return !plainRune(r) || r == '.' }) >= 0 {
		c.Name = ToolUnknown
	}
}

// locate finds the article that the call is about.
func (a *Agent) locate(r *toolRun) error {
	if r.args.Path == nil || *r.args.Path == articleName || r.tool == ToolReadMessage {
		r.path = a.job.article
		return nil
	}
	name := *r.args.Path
	if !fileName(name) {
		return misusef("%s: path %s: want a file name of letters, digits, blanks and . _ -, without folders, at most %d bytes",
			r.tool, strconv.QuoteToASCII(shorten(name)), nameBytesMax)
	}
	r.path = folderOf(a.job.task.ID) + "/" + name
	return nil
}

// prepare draws how long the tool takes and asks which faults fire.
func (a *Agent) prepare(r *toolRun, i int) {
	a.job.draw = a.job.toolTime.At(a.job.calls)
	if i > 0 { // further calls in one answer have streams of their own, below that of the model's call
		a.job.draw = a.job.draw.At(i)
	}
	r.time = a.wf.toolTime(r.tool).Sample(&a.job.draw)
	if a.replays() {
		r.time = a.waitOf(i)
	}
	a.meetFaults(r, i)
}

func (a *Agent) meetFaults(r *toolRun, i int) {
	if a.faults == nil {
		return
	}
	o := fault.Occasion{
		Key: fmt.Sprintf("%s/%d/%d", a.job.task.ID, a.job.calls, i), Agent: a.state.Name,
		Round: a.state.Round, ContextTokens: a.contextTokens(), Tool: r.tool,
	}
	a.w.Lock()
	defer a.w.Unlock()
	o.At = a.w.Now()
	r.hang = a.faults.Fires(fault.Tool, fault.Hang, o) != nil
	if f := a.faults.Fires(fault.Tool, fault.Latency, o); f != nil {
		r.time += f.Delay
	}
	a.job.unread = a.faults.Fires(fault.Tool, fault.Unread, o) != nil || a.job.unread
	r.lockOrder = r.tool == ToolSave && a.faults.Fires(fault.Tool, fault.LockOrder, o) != nil
}

// workOn lets the tool's time pass and does what the tool does.
func (a *Agent) workOn(ctx context.Context, r *toolRun, left time.Duration) error {
	if r.hang {
		return a.hang(ctx, r.tool)
	}
	if err := a.w.Sleep(ctx, left); err != nil {
		return err
	}
	if err := a.print(ctx, r.tool); err != nil {
		return err
	}
	r.result, r.call.InRange = resultDone, true
	if a.replays() {
		return nil
	}
	switch r.tool {
	case ToolReadMessage:
		a.readMessage(r)
	case ToolWrite:
		return a.ws.Write(r.path, *r.args.Text)
	case ToolAppend:
		return a.ws.Append(r.path, *r.args.Text)
	case ToolSave:
		r.result = resultSaved
		return a.ws.Save(r.path)
	}
	return nil
}

// hang waits for good, at a latch whose name tells a dump whose tool never returned.
func (a *Agent) hang(ctx context.Context, tool string) error {
	name := "tool " + tool + " of " + a.state.Name
	a.waitFor([]string{name})
	defer a.waitFor(nil)
	latch := sim.NewLatch(a.w, name)
	if a.forgets {
		defer latch.Retire()
	}
	return latch.Wait(ctx)
}

func (a *Agent) readMessage(r *toolRun) {
	if n := *r.args.Message; n < 0 || n >= a.wf.Messages {
		r.result, r.call.InRange = toJSON(outOfRange{Messages: a.wf.Messages}), false
		return
	}
	// The size is that of the n-th message, however often it is read.
	key := *r.args.Message
	if a.wf.FreshMessages {
		key = a.job.calls
	}
	a.job.draw = a.job.message.At(key)
	r.result = a.shared.message(a.wf.MessageTokens.Sample(&a.job.draw))
}

// settle turns a mistake of the model into the tool's result, and returns any other error.
func (a *Agent) settle(r *toolRun, err error) error {
	if err == nil {
		return nil
	}
	var mistake misuse
	switch {
	case errors.Is(err, ErrNoDraft):
		mistake = misuse{r.tool + ": nothing was written yet"}
	case !errors.As(err, &mistake):
		return err
	}
	r.call.InRange, r.call.Error = false, mistake.text
	r.result = toJSON(refusal{Error: mistake.text})
	return nil
}
