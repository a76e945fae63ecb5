package api

import (
	"encoding/json"
	"time"

	"example.com/wedge/repro/serving"
)

// ReadPage is what a scraper does with the text of a page.
func ReadPage(text []byte) ([]serving.Gauge, error) {
	p, err := parsePage(text, nil)
	if err != nil {
		return nil, err
	}
	return gaugesOf([]page{p}), nil
}

// AppendString is appendString.
func AppendString(b []byte, s string) []byte { return appendString(b, s) }

// Lateness returns the overhead of writes that were so late.
func Lateness(all ...time.Duration) Overhead {
	var l lag
	for _, late := range all {
		l.add(late)
	}
	return l.overhead()
}

// Hold is Config.hold.
func (c Config) Hold(scale float64) time.Duration { return c.hold(scale) }

// ReadBothWays reads a chat request with and without encoding/json, and returns what came out, as JSON.
// ok says whether it can be read without at all.
func ReadBothWays(body []byte) (with, without string, ok bool) {
	var a, b chatRequest
	if !scanChat(body, &a) {
		return "", "", false
	}
	form := func(c *chatRequest, err error) string {
		if err != nil {
			return err.Error()
		}
		// An empty list is as good as none.
		if len(c.Messages) == 0 {
			c.Messages = nil
		}
		if len(c.Tools) == 0 {
			c.Tools = nil
		}
		for i := range c.Messages {
			if len(c.Messages[i].ToolCalls) == 0 {
				c.Messages[i].ToolCalls = nil
			}
		}
		text, err := json.Marshal(c)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return form(&b, json.Unmarshal(body, &b)), form(&a, nil), true
}
