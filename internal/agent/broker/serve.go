package broker

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// route is a path that the broker serves.
type route struct {
	method string
	api    connector.Protocol
	do     func(*call, context.Context) *dialect.Fault
}

func routes(path string) (route, bool) {
	r, ok := map[string]route{
		"/v1/messages":              {http.MethodPost, connector.Anthropic, (*call).answer},
		"/v1/messages/count_tokens": {http.MethodPost, connector.Anthropic, (*call).count},
		"/v1/responses":             {http.MethodPost, connector.Responses, (*call).answer},
		"/v1/chat/completions":      {http.MethodPost, connector.OpenAI, (*call).answer},
		"/v1/models":                {http.MethodGet, connector.OpenAI, (*call).models},
	}[path]
	return r, ok
}

// ServeHTTP answers a request of an agent.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" && (r.Method == http.MethodHead || r.Method == http.MethodGet) {
		return // agents check whether the server is reachable
	}
	c := &call{Broker: b, w: w, r: r, api: connector.OpenAI, entry: Entry{Time: time.Now(), Status: http.StatusOK}}
	ctx, leave, ok := b.enter(r.Context(), c)
	if !ok {
		c.fail(&dialect.Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "closed", Message: errClosed.Error()})
	} else {
		defer leave()
		if f := c.serve(ctx); f != nil {
			c.fail(f)
		}
	}
	c.entry.Duration = time.Since(c.entry.Time)
	if b.options.Log != nil {
		b.options.Log(c.entry)
	}
}

// call is one request.
type call struct {
	*Broker
	w       http.ResponseWriter
	r       *http.Request
	api     connector.Protocol
	entry   Entry
	begun   bool // the response has begun
	stopped bool // write nothing more
	cancel  context.CancelCauseFunc
	to      connector.Connector
	asked   asked
}

func (c *call) serve(ctx context.Context) *dialect.Fault {
	to, ok := routes(c.r.URL.Path)
	if strings.HasPrefix(c.r.URL.Path, "/v1/messages") || c.r.Header.Get("Anthropic-Version") != "" {
		c.api = connector.Anthropic
	}
	if !ok {
		return &dialect.Fault{Status: http.StatusNotFound, Code: "not_found", Message: "there is nothing at this path"}
	}
	if to.api != connector.OpenAI || to.method == http.MethodPost {
		c.api = to.api
	}
	c.entry.API, c.entry.Path = c.api, c.r.URL.Path
	if c.r.Method == http.MethodGet && to.api == connector.Responses {
		return &dialect.Fault{Status: http.StatusUpgradeRequired, Code: "no_websocket", Message: "there is no WebSocket here; use POST"}
	}
	if c.r.Method != to.method {
		c.w.Header().Set("Allow", to.method)
		return &dialect.Fault{Status: http.StatusMethodNotAllowed, Code: "method", Message: "expected " + to.method}
	}
	if !c.authorized() {
		return &dialect.Fault{Status: http.StatusUnauthorized, Code: "unauthorized", Message: "the token of the broker is missing or wrong"}
	}
	return to.do(c, ctx)
}

// authorized compares hashes, so that the time reveals neither the token nor its length.
func (c *call) authorized() bool {
	given := c.r.Header.Get("X-Api-Key")
	if given == "" {
		scheme, rest, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "bearer") {
			given = strings.TrimSpace(rest)
		}
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], c.token[:]) == 1
}

// read reads the request and finds its connector.
func (c *call) read() *dialect.Fault {
	if c.r.Header.Get("Content-Encoding") != "" {
		return &dialect.Fault{Status: http.StatusUnsupportedMediaType, Code: "encoding", Message: "content-encoding: expected none"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.options.Limits.Body))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &dialect.Fault{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Message: "the request is larger than this run may send"}
	}
	if err != nil {
		return refused("the request broke off")
	}
	var f *dialect.Fault
	if c.asked, f = parseRequest(body); f != nil {
		return f
	}
	c.entry.Asked, c.entry.Stream = strings.ToValidUTF8(c.asked.model[:min(len(c.asked.model), 200)], ""), c.asked.stream
	to, ok := c.options.Models[c.asked.model]
	if !ok {
		if c.options.Other == nil {
			return &dialect.Fault{Status: http.StatusNotFound, Code: "model_not_allowed", Message: "model: this run may not use " + c.entry.Asked}
		}
		to = *c.options.Other
	}
	c.to, c.entry.Connector = to, to.ID
	c.asked, f = c.asked.admit(c.api, to)
	return f
}

// answer sends the request to the connector and its answer to the agent.
func (c *call) answer(ctx context.Context) *dialect.Fault {
	release, f := c.slot(ctx)
	if f != nil {
		return f
	}
	defer release()
	if f := c.read(); f != nil {
		return f
	}
	if c.to.Protocol == c.api {
		return c.pass(ctx)
	}
	return c.translate(ctx)
}

// slot waits until another request may be answered.
func (c *call) slot(ctx context.Context) (release func(), f *dialect.Fault) {
	select {
	case c.waiting <- struct{}{}:
	default:
		c.w.Header().Set("Retry-After", "5")
		return nil, &dialect.Fault{Status: http.StatusTooManyRequests, Code: "too_many_requests", Message: "too many requests at once"}
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots; <-c.waiting }, nil
	case <-ctx.Done():
		<-c.waiting
		return nil, c.ended(ctx)
	}
}

// ended returns the fault of a request whose context has ended.
func (c *call) ended(ctx context.Context) *dialect.Fault {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errClosed):
		return &dialect.Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "closed", Message: errClosed.Error()}
	case errors.Is(cause, errIdle):
		return &dialect.Fault{Status: http.StatusGatewayTimeout, Code: "timeout", Message: "the connector " + c.to.ID + " sent nothing for too long"}
	}
	c.stopped = true
	return &dialect.Fault{Status: 499, Code: "canceled", Message: "the agent disconnected"}
}

// fail reports a fault in the API's format: as a response, or as an event when the response has begun.
func (c *call) fail(f *dialect.Fault) {
	c.entry.Code = f.Code
	if f.Code == "" {
		c.entry.Code = "upstream_error"
	}
	if !c.begun {
		c.entry.Status = f.Status
	}
	if c.stopped {
		return
	}
	c.stopped = true
	d := dialect.For(c.api)
	if c.begun {
		if c.asked.stream {
			c.send(d.Errors().Event(*f), true)
		}
		return
	}
	c.respond(f.Status, d.Errors().Error(*f))
}

// respond sends a complete response.
func (c *call) respond(status int, body []byte) {
	c.begun, c.entry.Status = true, status
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	c.send(body, false)
}

// send sends bytes; when the agent no longer reads, the call ends.
func (c *call) send(data []byte, flush bool) {
	_, err := c.w.Write(data)
	if err == nil && flush {
		err = http.NewResponseController(c.w).Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) && c.cancel != nil {
		c.cancel(err)
	}
}

// models lists the permitted models.
func (c *call) models(context.Context) *dialect.Fault {
	names := make([]string, 0, len(c.options.Models))
	for name := range c.options.Models {
		names = append(names, name)
	}
	slices.Sort(names)
	c.respond(http.StatusOK, dialect.Models(c.api, names))
	return nil
}
