package agents

import (
	"encoding/json"
	"slices"

	"github.com/sashabaranov/go-openai"
)

// definition is what a model is told about a tool.
type definition struct {
	name, description, parameters string
}

const (
	messageSchema = `{"type":"object","properties":{` +
		`"message":{"type":"integer","description":"number of the message, counted from 0"}},"required":["message"]}`
	textSchema = `{"type":"object","properties":{` +
		`"text":{"type":"string","description":"the text"},` +
		`"path":{"type":"string","description":"file name of the article; article.md if left out"}},"required":["text"]}`
	pathSchema = `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"file name of the article; article.md if left out"}}}`
)

func definitionOf(tool string) definition {
	switch tool {
	case ToolReadMessage:
		return definition{tool, "Read one message of the conversation that the article is about.", messageSchema}
	case ToolWrite:
		return definition{tool, "Start the article over with this text.", textSchema}
	case ToolAppend:
		return definition{tool, "Add this text to the end of the article.", textSchema}
	}
	return definition{ToolSave, "Make the article durable as it is now.", pathSchema}
}

// toolsOf returns the named tools, each once, as requests offer them.
func toolsOf(names []string) []openai.Tool {
	var tools []openai.Tool
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		d := definitionOf(name)
		tools = append(tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: d.name, Description: d.description, Parameters: json.RawMessage(d.parameters),
		}})
	}
	return tools
}

// Results that say no more than that all is well.
const (
	resultDone  = `{"in_range":true}`
	resultSaved = `{"in_range":true,"saved":true}`
)

// outOfRange is the result of read_message for a message that does not exist.
type outOfRange struct {
	InRange  bool `json:"in_range"`
	Messages int  `json:"messages"` // that exist
}

// refusal is the result of a call that could not be made.
type refusal struct {
	Error string `json:"error"`
}

// toJSON encodes a result, which cannot fail for the types above.
func toJSON(result any) string {
	b, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	return string(b)
}
