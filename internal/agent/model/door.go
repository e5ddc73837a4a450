package model

import (
	"encoding/json"
	"net/http"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// door is the HTTP client as an SDK has it: what is no stream of events is a [fault] before the SDK reads it, because
// it would read all of it.
type door struct {
	c    *Client
	conn connector.Connector
}

// Do implements the SDKs' interface.
func (d door) Do(req *http.Request) (*http.Response, error) {
	res, err := d.c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if f := refusal(res, d.conn); f != nil {
		return nil, f
	}
	return res, nil
}

// streamFault makes a fault of an error that comes as an event. Before anything of an answer, a server that has too
// much to do may be asked again, as with a status that says the same.
func streamFault(data []byte, a *answer) *fault {
	said, code := serverMessage(data)
	if said == "" {
		said = clip(string(data), maxFault)
	}
	f := apiFault("the server failed in the middle of the answer: %s", said)
	if a.said == 0 && len(a.blocks) == 0 {
		f.text = "the server failed: " + said
		f.again = !a.begun && (code == "overloaded_error" || code == "api_error" || code == "rate_limit_error" || code == "server_error" ||
			code == "rate_limit_exceeded" || code == "429" || code == "500" || code == "503")
	}
	var status struct {
		Error struct {
			Code json.Number `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &status) == nil {
		if n, err := status.Error.Code.Int64(); err == nil && n >= 400 && n < 600 {
			f.status = n
			f.again = f.again || !a.begun && retriable(int(n))
		}
	}
	return f
}

// garbage is the fault of an event that is none of the API.
func garbage(data []byte) *fault {
	return apiFault("the server sent what is no event of the API: %s", clip(string(data), 100))
}

// output is what the model is told of a result where the API has no mark for failure.
func (r result) output() string {
	if r.failed {
		return "error: " + r.text
	}
	return r.text
}
