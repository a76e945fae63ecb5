package load

import (
	"fmt"
	"strings"

	"example.com/wedge/pacer"
)

// message is a message of a conversation.
type message struct{ role, text string }

// conversation is what one client has said and heard. The zero value is ready.
type conversation struct {
	messages []message
	rounds   int  // answered
	open     bool // the latest message has no answer yet
}

// ask makes sure that the latest message is a question. If it is one already, since the request
// failed, nothing changes; after roundsMax answers a new conversation begins, with the given id. With
// all that stands before it in its round the question has so many tokens.
func (c *conversation) ask(id string, tokens, roundsMax int) {
	if c.open {
		return
	}
	n := tokens * pacer.BytesPerToken
	if len(c.messages) == 0 || c.rounds >= roundsMax {
		n -= c.begin(id)
	}
	c.messages = append(c.messages, message{"user", filler(max(n, pacer.BytesPerToken))})
	c.open = true
}

// begin starts over, with a message that no other conversation has: a server that keeps the KV memory
// of prompts would otherwise have seen them all after the first, and there would be no prefill. It
// returns its length in bytes.
func (c *conversation) begin(id string) int {
	text := fmt.Sprintf("This is conversation %s. Answer at length.", id)
	c.rounds = 0
	c.messages = append(c.messages[:0], message{"system", text})
	return len(text)
}

// hear appends the answer.
func (c *conversation) hear(text string) {
	c.messages = append(c.messages, message{"assistant", text})
	c.rounds++
	c.open = false
}

// end gives the conversation up.
func (c *conversation) end() { *c = conversation{messages: c.messages[:0]} }

// paragraph is what prompts are made of: plain text that goes into JSON as it is.
const paragraph = `The reader asks what was measured, under which load, and what came of it. A number without its ` +
	`unit says little, and a queue that is empty says nothing at all while nobody stands in it. So the ` +
	`report names how many were at work when each figure was read, and for how long they had been. `

// fillerText is one string that prompts are slices of.
var fillerText = strings.Repeat(paragraph, 1<<20/len(paragraph)+1)

// filler returns text of n bytes.
func filler(n int) string {
	if n <= len(fillerText) {
		return fillerText[:n]
	}
	return strings.Repeat(fillerText, n/len(fillerText)+1)[:n]
}
