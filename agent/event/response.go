package event

// Response is the outcome of a run. The zero value is a run of which nothing is known; a [Fold] makes it.
type Response struct {
	Outcome    Outcome      `json:"outcome"`
	Content    string       `json:"content"`                 // the answer: what the last result says, else the agent's last message; not a subagent's
	Error      string       `json:"error,omitempty"`         // why it failed; "" after success
	Session    string       `json:"session,omitempty"`       // what resumes it; "": not reported
	Executor   string       `json:"executor,omitempty"`      // "": not reported
	Models     []ModelUsage `json:"models,omitempty"`        // that worked; without usage where only the name was reported
	Usage      Usage        `json:"usage"`                   // of all models and subagents, where it is reported
	Estimated  bool         `json:"estimated,omitempty"`     // a part of the usage was not reported: it is the sum of the messages, or a low estimate
	CostUSD    *float64     `json:"cost_usd,omitempty"`      // US dollars; nil: not reported, which is not zero
	Turns      int64        `json:"turns"`                   // how often the model was asked, as the executor counts; 0: not reported
	DurationMS int64        `json:"duration_ms"`             // milliseconds; 0: not reported
	Denials    []Denial     `json:"denials,omitempty"`       // what was not permitted, each use once; at most 1000, inputs up to 64 KiB
	Files      []string     `json:"files,omitempty"`         // what the agent's own tools wrote, in the order of the first time; not what its commands wrote. At most 10000
	Tools      int64        `json:"tools"`                   // uses of tools that started
	Retries    int64        `json:"retries,omitempty"`       // of requests to the model
	ExitCode   *int         `json:"exit_code,omitempty"`     // of the executor's process; nil: its end was not seen
	Garbage    int64        `json:"garbage_lines,omitempty"` // lines that were none of the stream, or over the bound
	Unknown    int64        `json:"unknown_lines,omitempty"` // lines of unknown types
	Truncated  bool         `json:"truncated,omitempty"`     // something was over a bound of these fields and is missing
}

// OK reports whether the run succeeded: a result said so, and no turn began after it that has none.
func (r Response) OK() bool { return r.Outcome == Success }
