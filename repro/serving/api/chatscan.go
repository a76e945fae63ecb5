package api

import "encoding/json"

// scanChat reads a chat request if there is nothing odd about it.
func scanChat(body []byte, c *chatRequest) bool {
	s := scan{text: body}
	if s.next() != '{' {
		return false
	}
	s.object(func(key []byte) { c.scanField(&s, key) })
	return !s.odd && s.next() == 0 && s.at == len(s.text)
}

func (c *chatRequest) scanField(s *scan, key []byte) {
	switch string(key) {
	case "model":
		c.Model = s.str()
	case "user":
		c.User = s.str()
	case "stream":
		c.Stream = s.boolean()
	case "stream_options":
		s.object(func(key []byte) { c.StreamOptions.scanField(s, key) })
	case "max_tokens":
		c.MaxTokens = orZero(s.integer())
	case "max_completion_tokens":
		c.MaxCompletionTokens = orZero(s.integer())
	case "min_tokens":
		c.MinTokens = orZero(s.integer())
	case "ignore_eos":
		c.IgnoreEOS = s.boolean()
	case "n":
		c.N = s.integer()
	case "messages":
		c.Messages = c.Messages[:0]
		s.array(func() {
			var m message
			s.object(func(key []byte) { m.scanField(s, key) })
			c.Messages = append(c.Messages, m)
		})
	case "tools":
		c.Tools = c.Tools[:0]
		s.array(func() {
			var t tool
			s.object(func(key []byte) { t.scanField(s, key) })
			c.Tools = append(c.Tools, t)
		})
	case "tool_choice":
		c.ToolChoice = s.skip()
	case "temperature":
		c.Temperature = s.float()
	case "top_p":
		c.TopP = s.float()
	case "min_p":
		c.MinP = s.float()
	case "top_k":
		c.TopK = s.integer()
	case "frequency_penalty":
		c.FrequencyPenalty = s.float()
	case "presence_penalty":
		c.PresencePenalty = s.float()
	case "repetition_penalty":
		c.RepetitionPenalty = s.float()
	default:
		s.skipField(key)
	}
}

func (o *streamOptions) scanField(s *scan, key []byte) {
	switch string(key) {
	case "include_usage":
		o.IncludeUsage = s.boolean()
	case "continuous_usage_stats":
		o.ContinuousUsageStats = s.boolean()
	default:
		s.skipField(key)
	}
}

func (m *message) scanField(s *scan, key []byte) {
	switch string(key) {
	case "role":
		m.Role = s.str()
	case "content":
		switch s.next() {
		case '"':
			m.Content = s.str()
		default:
			m.Content = s.any()
		}
	case "reasoning_content":
		m.ReasoningContent = s.str()
	case "tool_calls":
		m.ToolCalls = m.ToolCalls[:0]
		s.array(func() {
			var t toolCall
			s.object(func(key []byte) { t.scanField(s, key) })
			m.ToolCalls = append(m.ToolCalls, t)
		})
	default:
		s.skipField(key)
	}
}

func (t *toolCall) scanField(s *scan, key []byte) {
	if string(key) != "function" {
		s.skipField(key)
		return
	}
	s.object(func(key []byte) {
		switch string(key) {
		case "name":
			t.Function.Name = s.str()
		case "arguments":
			if s.next() == '"' {
				t.Function.Arguments = s.str()
			} else {
				t.Function.Arguments = s.any()
			}
		default:
			s.skipField(key)
		}
	})
}

func (t *tool) scanField(s *scan, key []byte) {
	if string(key) != "function" {
		s.skipField(key)
		return
	}
	if s.word("null") {
		t.Function = nil
		return
	}
	if t.Function == nil {
		t.Function = new(toolFunction)
	}
	s.object(func(key []byte) {
		if string(key) == "name" {
			t.Function.Name = s.str()
		} else {
			s.skipField(key)
		}
	})
}

// any takes a value of any type.
func (s *scan) any() (v any) {
	text := s.skip()
	if s.odd || json.Unmarshal(text, &v) != nil {
		s.odd = true
	}
	return v
}

// skipField takes the value of a field that is of no interest. encoding/json does not mind upper and
// lower case in names, so one with anything else than small letters may be one of those above.
func (s *scan) skipField(key []byte) {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			s.odd = true
			return
		}
	}
	s.value(1)
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
