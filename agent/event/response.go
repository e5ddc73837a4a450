package event

// Response is the outcome of a run. The zero value is an unknown outcome. A [Fold] builds it.
type Response struct {
	Outcome    Outcome      `json:"outcome"`
	Content    string       `json:"content"`                 // the answer: that of the last result, otherwise the agent's last message; never a subagent's
	Error      string       `json:"error,omitempty"`         // why it failed; "" after success
	Session    string       `json:"session,omitempty"`       // the ID that resumes the session; "": not reported
	Executor   string       `json:"executor,omitempty"`      // "": not reported
	Models     []ModelUsage `json:"models,omitempty"`        // the models of the run; one of which only the name is known has no usage
	Usage      Usage        `json:"usage"`                   // of all models and subagents, if reported
	Estimated  bool         `json:"estimated,omitempty"`     // a part of the usage was not reported: Usage is the sum of the messages, or a low estimate
	CostUSD    *float64     `json:"cost_usd,omitempty"`      // US dollars; nil: not reported, which differs from zero
	Turns      int64        `json:"turns"`                   // requests to the model, as the executor counts them; 0: not reported
	DurationMS int64        `json:"duration_ms"`             // milliseconds; 0: not reported
	Denials    []Denial     `json:"denials,omitempty"`       // the denied uses of tools, each once; at most 1000, inputs up to 64 KiB
	Files      []string     `json:"files,omitempty"`         // the files that the agent's own tools wrote, in the order of their first write; not those of its commands. At most 10000
	Tools      int64        `json:"tools"`                   // uses of tools that started
	Retries    int64        `json:"retries,omitempty"`       // of requests to the model
	ExitCode   *int         `json:"exit_code,omitempty"`     // of the executor's process; nil: unknown
	Garbage    int64        `json:"garbage_lines,omitempty"` // lines that are not part of the stream, or over the bound
	Unknown    int64        `json:"unknown_lines,omitempty"` // lines of unknown types
	Truncated  bool         `json:"truncated,omitempty"`     // a value exceeded a bound of these fields and is missing
}

// OK reports whether the run succeeded: a result reported success, and no later turn is without a
// result.
func (r Response) OK() bool { return r.Outcome == Success }
