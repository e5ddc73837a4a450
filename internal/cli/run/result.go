package run

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// result is the document that exec --json prints. Either error or the rest is set.
type result struct {
	Backend  string           `json:"backend,omitempty"`
	ID       string           `json:"id,omitempty"`
	Code     int              `json:"code"`                   // the exit status of this command, too
	Signal   int              `json:"signal,omitempty"`       // that killed the command
	Reason   string           `json:"reason,omitempty"`       // why it was killed
	Stdout   string           `json:"stdout"`                 //
	Stderr   string           `json:"stderr"`                 //
	Base64   []string         `json:"base64,omitempty"`       // which of stdout and stderr are in base64, because they are not UTF-8
	Cut      bool             `json:"cut"`                    // output exceeded its limit
	TimedOut bool             `json:"timed_out"`              // the wall-clock limit passed
	Millis   int64            `json:"duration_ms"`            //
	Refused  []sandbox.Denial `json:"denials,omitempty"`      // at most 100
	Dropped  int              `json:"denials_more,omitempty"` // number of denials beyond those
	Stage    *stageReport     `json:"stage,omitempty"`        // on which the command ran; nil: the workspace itself
	Changes  *memoryReport    `json:"changes,omitempty"`      // to a tree in memory; nil: the command wrote to the workspace or a stage
	Error    *errorReport     `json:"error,omitempty"`        // the sandbox failed

	host.HiddenFiles // of the workspace
}

// errorReport is an error as JSON.
type errorReport struct {
	Code    sandbox.Code `json:"code"`
	Message string       `json:"message"`
	Hint    string       `json:"hint,omitempty"`
}

func newResult(box *sandbox.Sandbox, res *sandbox.Result, refused *host.Denials) result {
	r := result{
		Backend: box.Backend(), ID: box.ID(), Code: res.Code, Signal: res.Signal, Reason: res.Reason,
		Refused: refused.All(), Dropped: refused.Dropped(), Cut: res.Cut, TimedOut: res.TimedOut, Millis: int64(res.Duration / time.Millisecond),
	}
	r.Stdout = r.text("stdout", res.Stdout)
	r.Stderr = r.text("stderr", res.Stderr)
	return r
}

// text encodes bytes without loss: a JSON string cannot hold bytes that are not UTF-8.
func (r *result) text(name string, data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	r.Base64 = append(r.Base64, name)
	return base64.StdEncoding.EncodeToString(data)
}

func failureResult(err error) result {
	return result{Code: console.ExitCode(err), Error: &errorReport{
		Code: sandbox.CodeOf(err), Message: console.Escape(err.Error()), Hint: console.Escape(sandbox.HintOf(err)),
	}}
}
