package worker

import (
	"bytes"
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The operations of a worker, beside those of a sandbox.
const (
	opBegin  = "begin"  // settings; the answer is a line "ready" and then an event a line, until the worker ends
	opCreate = "create" // a creation; the answer is a created
	opFlush  = "flush"  // the answer is the number of events so far
	opStatus = "status" // of a sandbox
	opClose  = "close"  // of a sandbox
)

// readyLine is the first line of the answer to opBegin.
const readyLine = "ready\n"

// settings configure a worker before its first sandbox.
type settings struct {
	Memory sandbox.Bytes   `json:"memory"`
	Driver json.RawMessage `json:"driver"`
}

// creation asks for a sandbox. Env may hold bytes that JSON would change.
type creation struct {
	Spec sandbox.Spec `json:"spec"`
	Env  [][]byte     `json:"env"`
}

// created describes a new sandbox.
type created struct {
	ID     string         `json:"id"`
	Limits sandbox.Limits `json:"limits"`
}

// event is an event that the driver reports.
type event struct {
	Denial sandbox.Denial `json:"denial"`
}

// flushed is the answer to opFlush.
type flushed struct {
	Events uint64 `json:"events"`
}

// encodeSpec returns the JSON of a spec. Unsupported: JSON would change one of its names.
func encodeSpec(spec sandbox.Spec) (json.RawMessage, error) {
	c := creation{Spec: spec}
	for _, kv := range spec.Env {
		c.Env = append(c.Env, []byte(kv))
	}
	c.Spec.Env = nil
	data, err := json.Marshal(c)
	if err == nil && bytes.Contains(data, []byte(`\ufffd`)) {
		return nil, sandbox.Errorf(sandbox.Unsupported, "a name in the policy is not UTF-8, and a worker process cannot be asked for it")
	}
	return data, err
}
