package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

type chatUsage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Hit        count `json:"prompt_cache_hit_tokens"` // of DeepSeek
	Details    struct {
		Cached  count `json:"cached_tokens"`
		Written count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (c chatUsage) neutral() event.Usage {
	cached := min(max(c.Details.Cached, c.Hit), c.Prompt)
	written := min(c.Details.Written, c.Prompt-cached)
	return event.Usage{
		Input: int64(c.Prompt - cached - written), Output: int64(c.Completion), CacheRead: int64(cached), CacheWrite: int64(written),
		Reasoning: int64(c.Output.Reasoning),
	}
}

type chatChunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			Thought   string `json:"reasoning_content"`
			Reasoning string `json:"reasoning"` // of OpenRouter and vLLM
			Calls     []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatDecoder numbers blocks by the order of arrival, since Chat does not order text and calls.
type chatDecoder struct {
	next     int
	open     int              // the open block of text or thinking, or -1
	thinking bool             // the open block is thinking
	calls    map[int]chatCall // by index
	complete bool
	done     bool
}

type chatCall struct {
	block int
	id    string
}

// Decoder implements [Dialect].
func (chat) Decoder() Decoder { return &chatDecoder{open: -1, calls: map[int]chatCall{}} }

// Complete implements [Decoder].
func (d *chatDecoder) Complete() bool { return d.complete }

// Done implements [Decoder].
func (d *chatDecoder) Done() bool { return d.complete && d.done }

// Decode implements [Decoder].
func (d *chatDecoder) Decode(e sse.Event) ([]Delta, error) {
	if string(e.Data) == "[DONE]" {
		d.done = true
		return nil, nil
	}
	var in chatChunk
	if err := decodeLenient(e.Data, &in); err != nil {
		return nil, garbage("the server sent an event that does not belong to the Chat Completions API: %v", err)
	}
	if !isNull(in.Error) {
		return nil, openaiFault(in.Error)
	}
	var out []Delta
	for _, c := range in.Choices {
		if c.Index != 0 {
			continue
		}
		if thought := c.Delta.Thought + c.Delta.Reasoning; thought != "" {
			if c.Delta.Thought != "" {
				thought = c.Delta.Thought // some servers send it twice
			}
			out = d.add(out, true, thought)
		}
		if said := c.Delta.Content + c.Delta.Refusal; said != "" {
			out = d.add(out, false, said)
		}
		for _, call := range c.Delta.Calls {
			began, known := d.calls[call.Index]
			// Some servers number every call 0.
			if !known || call.ID != "" && call.ID != began.id && call.Function.Name != "" {
				out = d.end(out)
				began = chatCall{d.next, call.ID}
				d.next++
				d.calls[call.Index] = began
				out = append(out, Delta{Change: BeginCall, Block: began.block, ID: call.ID, Name: call.Function.Name})
			}
			if call.Function.Arguments != "" {
				out = append(out, Delta{Change: AddCall, Block: began.block, Text: call.Function.Arguments})
			}
		}
		if c.Finish != "" {
			out = append(d.end(out), Delta{Change: SetStop, Stop: chatStop(c.Finish)})
			d.complete = true
		}
	}
	if in.Usage != nil {
		out = append(out, Delta{Change: SetUsage, Usage: in.Usage.neutral()})
	}
	return out, nil
}

// add adds to the open block if it is of that kind; otherwise it begins a block.
func (d *chatDecoder) add(out []Delta, thinking bool, s string) []Delta {
	if d.open < 0 || d.thinking != thinking {
		out = d.end(out)
		d.open, d.thinking = d.next, thinking
		d.next++
	}
	change := AddText
	if thinking {
		change = AddThinking
	}
	return append(out, Delta{Change: change, Block: d.open, Text: s})
}

// end ends the open block. Thinking is sealed, so that it returns only to the server that wrote it.
func (d *chatDecoder) end(out []Delta) []Delta {
	if d.open >= 0 && d.thinking {
		out = append(out, Delta{Change: AddSeal, Block: d.open, Seal: Seal{Origin: connector.OpenAI}})
	}
	d.open = -1
	return out
}

func chatStop(s string) Stop {
	switch s {
	case "tool_calls", "function_call":
		return StopCalls
	case "length":
		return StopLength
	case "content_filter":
		return StopRefusal
	}
	return StopEnd
}

// openaiFault reads an error of OpenAI's APIs and of those that resemble them.
func openaiFault(raw json.RawMessage) *Fault {
	if s, ok := decodeText(raw); ok {
		return &Fault{Message: s}
	}
	var in struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Message == "" {
		in.Message = "the server reported an error without a message"
	}
	code, _ := decodeText(in.Code)
	return &Fault{Type: in.Type, Code: code, Message: in.Message}
}
