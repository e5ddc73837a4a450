package broker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/openai/openai-go/v3"
	openaistream "github.com/openai/openai-go/v3/packages/ssestream"
	openairesponses "github.com/openai/openai-go/v3/responses"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// heard is an answer as the makers' own SDK understands it.
type heard struct {
	thought, text  string
	calls          []toolCall
	stop           string // in the words of Chat
	in, cache, out int64  // tokens: read, from a cache among them, and written
	err            error
}

// hear reads an answer.
func hear(t *testing.T, api connector.Protocol, resp *http.Response) (h heard) {
	t.Helper()
	if resp.StatusCode != http.StatusOK {
		data, err := io.ReadAll(resp.Body)
		t.Fatalf("status %d: %s (%v)", resp.StatusCode, data, err)
	}
	isStream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	switch api {
	case connector.Anthropic:
		return hearMessages(t, resp, isStream)
	case connector.Responses:
		return hearResponses(t, resp, isStream)
	default:
		return hearChat(t, resp, isStream)
	}
}

func decode(t *testing.T, resp *http.Response, v any) {
	t.Helper()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

func hearMessages(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var m anthropic.Message
	if !isStream {
		decode(t, resp, &m)
	} else {
		s := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(resp), nil)
		last := ""
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				t.Fatal(err)
			}
			last = s.Current().Type
		}
		if h.err = s.Err(); h.err == nil && last != "message_stop" {
			h.err = fmt.Errorf("the stream ends with %q", last)
		}
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			h.text += b.Text
		case "thinking":
			h.thought += b.Thinking
		case "tool_use":
			h.calls = append(h.calls, toolCall{b.ID, b.Name, string(b.Input)})
		}
	}
	h.stop = map[anthropic.StopReason]string{"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}[m.StopReason]
	u := m.Usage
	h.in, h.cache, h.out = u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens
	return h
}

func hearChat(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var whole openai.ChatCompletion
	if !isStream {
		decode(t, resp, &whole)
		h.thought, _ = extra(whole.Choices[0].Message.RawJSON())
	} else {
		var acc openai.ChatCompletionAccumulator
		s := openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(resp), nil)
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				t.Fatalf("a chunk that does not follow: %s", s.Current().RawJSON())
			}
			for _, c := range s.Current().Choices {
				thought, _ := extra(c.Delta.RawJSON())
				h.thought += thought
			}
		}
		h.err = s.Err()
		whole = acc.ChatCompletion
	}
	if len(whole.Choices) == 0 {
		return h
	}
	c := whole.Choices[0]
	h.text, h.stop = c.Message.Content, c.FinishReason
	for _, call := range c.Message.ToolCalls {
		h.calls = append(h.calls, toolCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	h.in, h.cache, h.out = whole.Usage.PromptTokens, whole.Usage.PromptTokensDetails.CachedTokens, whole.Usage.CompletionTokens
	return h
}

// extra is thinking, which the SDK does not know.
func extra(raw string) (string, error) {
	var v struct {
		Thought string `json:"reasoning_content"`
	}
	err := json.Unmarshal([]byte(raw), &v)
	return v.Thought, err
}

func hearResponses(t *testing.T, resp *http.Response, isStream bool) (h heard) {
	t.Helper()
	var r openairesponses.Response
	if !isStream {
		decode(t, resp, &r)
	} else {
		var items, deltas strings.Builder
		s := openaistream.NewStream[openairesponses.ResponseStreamEventUnion](openaistream.NewDecoder(resp), nil)
		last := ""
		for s.Next() {
			e := s.Current()
			last = e.Type
			switch e.Type {
			case "response.output_text.delta":
				deltas.WriteString(e.Delta)
			case "response.output_item.done":
				items.WriteString("," + e.Item.RawJSON())
			case "response.completed", "response.incomplete":
				r = e.Response
			case "response.failed":
				h.err = fmt.Errorf("%s: %s", e.Response.Error.Code, e.Response.Error.Message)
			}
		}
		if h.err == nil {
			h.err = s.Err()
		}
		if h.err == nil && last != "response.completed" && last != "response.incomplete" {
			h.err = fmt.Errorf("the stream ends with %q", last)
		}
		// Codex takes items as they come; the end of a stream may leave them out.
		if err := json.Unmarshal([]byte("["+strings.TrimPrefix(items.String(), ",")+"]"), &r.Output); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if h.err == nil && deltas.String() != h.text {
				t.Errorf("the deltas are %q, the items %q", deltas.String(), h.text)
			}
		}()
	}
	h.stop = map[openairesponses.ResponseStatus]string{"completed": "stop", "incomplete": "length"}[r.Status]
	for _, item := range r.Output {
		switch item.Type {
		case "message":
			for _, c := range item.Content {
				h.text += c.Text
			}
		case "reasoning":
			for _, s := range item.Summary {
				h.thought += s.Text
			}
		case "function_call":
			h.calls = append(h.calls, toolCall{item.CallID, item.Name, item.Arguments.OfString})
			h.stop = "tool_calls"
		}
	}
	h.in, h.cache, h.out = r.Usage.InputTokens, r.Usage.InputTokensDetails.CachedTokens, r.Usage.OutputTokens
	return h
}
