package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

type responsesUsage struct {
	Input   count `json:"input_tokens"`
	Output  count `json:"output_tokens"`
	Details struct {
		Cached  count `json:"cached_tokens"`
		Written count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (r responsesUsage) neutral() event.Usage {
	cached := min(r.Details.Cached, r.Input)
	written := min(r.Details.Written, r.Input-cached)
	return event.Usage{
		Input: int64(r.Input - cached - written), Output: int64(r.Output), CacheRead: int64(cached), CacheWrite: int64(written),
		Reasoning: int64(r.OutputDetails.Reasoning),
	}
}

type responsesEvent struct {
	Type     string        `json:"type"`
	Index    int           `json:"output_index"`
	Summary  int           `json:"summary_index"`
	Delta    string        `json:"delta"`
	Item     responsesItem `json:"item"`
	Response struct {
		Usage      *responsesUsage `json:"usage"`
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// responsesDecoder tracks which items had deltas: servers may send an item without any.
type responsesDecoder struct {
	items    map[int]*responsesBegun
	complete bool
}

type responsesBegun struct{ call, said bool }

// Decoder implements [Dialect].
func (responses) Decoder() Decoder { return &responsesDecoder{items: map[int]*responsesBegun{}} }

// Complete implements [Decoder].
func (d *responsesDecoder) Complete() bool { return d.complete }

// Done implements [Decoder].
func (d *responsesDecoder) Done() bool { return d.complete }

// Decode implements [Decoder].
func (d *responsesDecoder) Decode(e sse.Event) ([]Delta, error) {
	if string(e.Data) == "[DONE]" {
		return nil, nil
	}
	var in responsesEvent
	if err := decodeLenient(e.Data, &in); err != nil {
		return nil, garbage("the server sent an event that does not belong to the Responses API: %v", err)
	}
	switch in.Type {
	case "response.completed", "response.incomplete":
		return d.end(in), nil
	case "response.failed":
		return d.end(in), openaiFault(in.Response.Error)
	case "error":
		if isNull(in.Error) {
			in.Error = e.Data
		}
		return nil, openaiFault(in.Error)
	case "response.output_item.added", "response.output_item.done", "response.output_text.delta", "response.refusal.delta",
		"response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.function_call_arguments.delta":
		return d.item(in), nil
	}
	return nil, nil
}

func (d *responsesDecoder) end(in responsesEvent) []Delta {
	var out []Delta
	if in.Response.Usage != nil {
		out = append(out, Delta{Change: SetUsage, Usage: in.Response.Usage.neutral()})
	}
	if in.Type == "response.failed" {
		return out
	}
	d.complete = true
	stop := StopEnd
	switch {
	case in.Type == "response.incomplete" && in.Response.Incomplete.Reason == "content_filter":
		stop = StopRefusal
	case in.Type == "response.incomplete":
		stop = StopLength
	}
	return append(out, Delta{Change: SetStop, Stop: stop})
}

func (d *responsesDecoder) item(in responsesEvent) []Delta {
	began := d.items[in.Index]
	if began == nil {
		began = &responsesBegun{}
		d.items[in.Index] = began
	}
	say := func(c Change, s string) []Delta {
		if s == "" {
			return nil
		}
		began.said = true
		return []Delta{{Change: c, Block: in.Index, Text: s}}
	}
	switch in.Type {
	case "response.output_text.delta", "response.refusal.delta":
		return say(AddText, in.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return say(AddThinking, in.Delta)
	case "response.function_call_arguments.delta":
		return say(AddCall, in.Delta)
	}
	done := in.Type == "response.output_item.done"
	switch in.Item.Type {
	case "function_call":
		var out []Delta
		if !began.call {
			began.call = true
			out = append(out, Delta{Change: BeginCall, Block: in.Index, ID: in.Item.CallID, Name: in.Item.Name})
		}
		if done && !began.said {
			out = append(out, say(AddCall, in.Item.Arguments)...)
		}
		return out
	case "message":
		if parts, err := responsesParts(in.Item.Content); done && !began.said && err == nil {
			return say(AddText, joinText(parts))
		}
	case "reasoning":
		if !done {
			return nil
		}
		var out []Delta
		if !began.said {
			out = say(AddThinking, in.Item.summary())
		}
		return append(out, Delta{Change: AddSeal, Block: in.Index, Seal: Seal{connector.Responses, in.Item.ID, in.Item.Encrypted}})
	}
	return nil
}
