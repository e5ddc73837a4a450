package broker

import (
	"maps"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// The tables say what requests of each API may hold. They have what the coding agents send, and what stays within one
// request. They have no member, block or tool with which a server would call an address, run code, or read and write what
// the key's account stores. A new member or type is one line here.

// tables are the shapes of requests by API. They are not changed after this.
var tables = map[connector.Protocol]*shape{
	connector.Anthropic: messagesTable(), connector.Responses: responsesTable(), connector.OpenAI: chatTable(),
}

func scalar() *shape     { return &shape{} }
func anything() *shape   { return &shape{any: true} }
func scalars() *shape    { return &shape{list: scalar()} }
func inlineText() *shape { return &shape{inline: true} }

// fields returns an object with scalar members, and others: a name and a shape each.
func fields(names string, others ...any) *shape {
	s := &shape{members: map[string]*shape{}}
	for name := range strings.FieldsSeq(names) {
		s.members[name] = scalar()
	}
	for i := 0; i+1 < len(others); i += 2 {
		s.members[others[i].(string)] = others[i+1].(*shape)
	}
	return s
}

// absent is the shape of a member that may only be null.
func absent(why string) *shape { return &shape{only: []string{"null"}, why: why} }

const (
	noStored  = "nothing is stored here; send the whole conversation"
	noTier    = `expected "auto" or "default"; the connector can open the member service_tier`
	oneAnswer = "expected one answer"
)

// notBackground permits requests whose answer the agent waits for.
func notBackground() *shape {
	return &shape{only: []string{"false", "null"}, why: "expected false: the broker cannot count what the client does not wait for"}
}

func ordinaryTier() *shape {
	return &shape{only: []string{`"auto"`, `"default"`, "null"}, why: noTier}
}

// messagesTable is the table of Anthropic's Messages API.
func messagesTable() *shape {
	text := fields("type text", "cache_control", anything(), "citations", anything())
	texts := &shape{list: &shape{kinds: map[string]*shape{"text": text}}}
	sources := map[string]*shape{
		"base64": fields("type media_type data"), "text": fields("type media_type data"),
	}
	source := &shape{kinds: sources, open: "sources"}
	image := fields("type", "source", source, "cache_control", anything())
	sources["content"] = fields("type", "content", &shape{list: &shape{kinds: map[string]*shape{"text": text, "image": image}}})
	document := fields("type title context", "source", source, "citations", anything(), "cache_control", anything())
	inner := map[string]*shape{
		"text": text, "image": image, "document": document, "tool_reference": fields("type tool_name", "cache_control", anything()),
		"search_result": fields("type source title", "content", texts, "citations", anything(), "cache_control", anything()),
	}
	blocks := map[string]*shape{
		"tool_use": fields("type id name", "input", anything(), "caller", anything(), "cache_control", anything()),
		"tool_result": fields("type tool_use_id is_error", "cache_control", anything(),
			"content", &shape{list: &shape{kinds: inner, open: "blocks"}}),
		"thinking": fields("type thinking signature"), "redacted_thinking": fields("type data"),
		"compaction": fields("type content", "cache_control", anything()),
	}
	maps.Copy(blocks, inner)
	tool := fields("type name description strict defer_loading eager_input_streaming",
		"input_schema", anything(), "input_examples", anything(), "cache_control", anything())
	s := fields("model max_tokens stream temperature top_p top_k", "stop_sequences", scalars(), "system", texts,
		"messages", &shape{list: fields("role", "content", &shape{list: &shape{kinds: blocks, open: "blocks"}})},
		"tools", &shape{list: &shape{kinds: map[string]*shape{"": tool, "custom": tool}, open: "tools"}, omit: []string{"web_search_"}},
		"tool_choice", fields("type name disable_parallel_tool_use"), "thinking", fields("type budget_tokens display"),
		"metadata", fields("user_id"), "context_management", anything(), "output_config", anything(), "output_format", anything(),
		"cache_control", anything(), "container", absent(noStored),
		"service_tier", &shape{only: []string{`"auto"`, `"standard_only"`, "null"}, why: `expected "auto" or "standard_only"`})
	s.drop = []string{"diagnostics"} // names an earlier answer, to find out why a cache was missed
	return s
}

// responsesTable is the table of OpenAI's Responses API.
func responsesTable() *shape {
	plain := fields("type text", "annotations", anything(), "logprobs", anything())
	image := fields("type detail", "image_url", inlineText())
	image.behind = map[string]string{"file_id": "file"}
	file := fields("type filename detail", "file_data", inlineText())
	file.behind = map[string]string{"file_id": "file", "file_url": "url"}
	parts := &shape{list: &shape{open: "blocks", kinds: map[string]*shape{
		"input_text": plain, "output_text": plain, "text": plain, "summary_text": plain, "reasoning_text": plain,
		"refusal": fields("type refusal"), "encrypted_content": fields("type encrypted_content"), "input_image": image, "input_file": file,
	}}}
	function := fields("type name description strict defer_loading", "parameters", anything(), "output_schema", anything())
	custom := fields("type name description defer_loading", "format", anything())
	search := fields("type description", "parameters", anything(),
		"execution", &shape{only: []string{`"client"`}, why: `expected "client": the broker passes no search of the server`})
	omit := []string{"web_search", "image_generation"}
	spaced := &shape{open: "tools", kinds: map[string]*shape{"function": function, "custom": custom}}
	tools := &shape{omit: omit, list: &shape{open: "tools", kinds: map[string]*shape{
		"function": function, "custom": custom, "local_shell": fields("type"), "tool_search": search,
		"namespace": fields("type name description", "tools", &shape{list: spaced, omit: omit}),
	}}}
	message := fields("type id role status phase end_turn", "content", parts)
	output := fields("type id call_id name status", "output", parts)
	sealed := fields("type id encrypted_content status")
	items := map[string]*shape{
		"": message, "message": message, "function_call_output": output, "custom_tool_call_output": output,
		"agent_message":    fields("type id author recipient status", "content", parts),
		"function_call":    fields("type id call_id name namespace arguments status", "caller", anything()),
		"custom_tool_call": fields("type id call_id name namespace input status", "caller", anything()),
		"reasoning":        fields("type id encrypted_content status", "summary", parts, "content", parts),
		"compaction":       sealed, "compaction_summary": sealed, "context_compaction": sealed, "compaction_trigger": fields("type"),
		"local_shell_call": fields("type id call_id status", "action", anything()), "local_shell_call_output": output,
		"tool_search_call":   fields("type id call_id status execution", "arguments", anything()),
		"tool_search_output": fields("type id call_id status execution", "tools", tools),
		"additional_tools":   fields("type id role", "tools", tools),
	}
	choice := fields("type name")
	offered := &shape{list: &shape{open: "tools", kinds: map[string]*shape{"function": choice, "custom": choice}}}
	choices := map[string]*shape{"function": choice, "custom": choice, "allowed_tools": fields("type mode", "tools", offered)}
	return fields("model instructions parallel_tool_calls max_output_tokens max_tool_calls temperature top_p top_logprobs stream store "+
		"prompt_cache_key prompt_cache_retention safety_identifier user truncation",
		"input", &shape{list: &shape{kinds: items, open: "blocks"}}, "tools", tools,
		"tool_choice", &shape{open: "tools", kinds: choices},
		"reasoning", anything(), "text", anything(), "include", scalars(), "stream_options", anything(), "metadata", anything(),
		"client_metadata", anything(), "context_management", anything(), "background", notBackground(), "service_tier", ordinaryTier(),
		"previous_response_id", absent(noStored), "conversation", absent(noStored))
}

// chatTable is the table of OpenAI's Chat Completions API, with the members that compatible servers share.
func chatTable() *shape {
	file := fields("filename", "file_data", inlineText())
	file.behind = map[string]string{"file_id": "file", "file_url": "url"}
	text := fields("type text", "cache_control", anything())
	image := fields("url detail")
	image.members["url"] = inlineText()
	image.inline = true // some servers take the address alone
	parts := &shape{list: &shape{open: "blocks", kinds: map[string]*shape{
		"text": text, "refusal": fields("type refusal"), "file": fields("type", "file", file),
		"image_url": fields("type", "image_url", image, "cache_control", anything()),
	}}}
	call := fields("id type index", "function", fields("name arguments"))
	message := fields("role name tool_call_id refusal reasoning_content reasoning", "content", parts, "reasoning_details", anything(),
		"annotations", anything(), "audio", absent(noStored), "function_call", absent("expected tool_calls"),
		"tool_calls", &shape{list: &shape{kinds: map[string]*shape{
			"": call, "function": call, "custom": fields("id type index", "custom", fields("name input")),
		}}})
	tool := fields("type", "function", fields("name description strict", "parameters", anything()), "cache_control", anything())
	named := fields("type name", "function", fields("name"), "custom", fields("name"))
	choice := &shape{open: "tools", kinds: map[string]*shape{
		"function": named, "custom": named, "allowed_tools": fields("type mode", "allowed_tools", anything(), "tools", anything()),
	}}
	return fields("model max_tokens max_completion_tokens temperature top_p top_k seed frequency_penalty presence_penalty logprobs top_logprobs "+
		"parallel_tool_calls reasoning_effort verbosity stream store user safety_identifier prompt_cache_key prompt_cache_retention enable_thinking",
		"messages", &shape{list: message}, "tool_choice", choice,
		"tools", &shape{list: &shape{open: "tools", kinds: map[string]*shape{
			"": tool, "function": tool, "custom": fields("type", "custom", fields("name description", "format", anything())),
		}}},
		"stop", scalars(), "logit_bias", anything(), "response_format", anything(), "stream_options", anything(), "metadata", anything(),
		"thinking", anything(), "reasoning", anything(), "n", &shape{only: []string{"1", "null"}, why: oneAnswer}, "service_tier", ordinaryTier())
}

// betas are the values of the headers that switch on features of an API. They change how one request is answered: no value
// here lets a server call an address, run code or read what the account stores. Other values are left out.
var betas = map[string]bool{
	"advanced-tool-use-2025-11-20": true, "claude-code-20250219": true, "compact-2026-01-12": true, "context-management-2025-06-27": true,
	"effort-2025-11-24": true, "extended-cache-ttl-2025-04-11": true, "fine-grained-tool-streaming-2025-05-14": true,
	"interleaved-thinking-2025-05-14": true, "mid-conversation-system-2026-04-07": true, "prompt-caching-2024-07-31": true,
	"prompt-caching-scope-2026-01-05": true, "redact-thinking-2026-02-12": true, "structured-outputs-2025-11-13": true,
	"structured-outputs-2025-12-15": true, "task-budgets-2026-03-13": true, "thinking-token-count-2026-05-13": true,
	"token-counting-2024-11-01": true, "token-efficient-tools-2025-02-19": true, "tool-search-tool-2025-10-19": true,
	"responses=experimental": true,
}
