package model

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// post sends a request below the base URL of conn. The headers of conn win over those of header. An answer that is not
// a stream of events is a [fault].
func (c *Client) post(ctx context.Context, conn connector.Connector, path string, body []byte, header http.Header) (*http.Response, error) {
	base, err := url.Parse(conn.BaseURL)
	if err != nil {
		return nil, err
	}
	if base.Path != "" && !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	at, err := base.Parse(path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "agent-sandbox")
	for name, value := range conn.Headers {
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if f := refusal(res, conn); f != nil {
		return nil, f
	}
	return res, nil
}

// openAIHeaders are the headers of OpenAI's APIs; "": no key.
func openAIHeaders(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return header
}

// streamFault returns the fault of an error that arrives as an event. Before the first part of an answer, an overloaded
// server may be asked again, as with a status that says the same.
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
			f.again = f.again || !a.begun && isRetriable(int(n))
		}
	}
	return f
}

// garbage returns the fault of data that is not an event of the API.
func garbage(data []byte) *fault {
	return apiFault("the server sent data that is not an event of the API: %s", clip(string(data), 100))
}

// output returns the text of a result for an API that has no mark for failure.
func (r result) output() string {
	if r.failed {
		return "error: " + r.text
	}
	return r.text
}
