package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Limits of the question for the version: the bytes of the answer, and the time until its end.
const (
	maxVersion  = 64 << 10
	versionTime = 10 * time.Second
)

// errNotKubernetes is the error about a server that is not a Kubernetes API server.
var errNotKubernetes = errors.New("not a Kubernetes API server")

// identifier is a transport that makes sure, with the first answer, that the server is a Kubernetes API server. Otherwise each
// request fails with an error that wraps errNotKubernetes, instead of one about the form of the answer.
type identifier struct {
	next    http.RoundTripper
	server  string       // its address
	version *url.URL     // of its version
	known   *atomic.Bool // it is a Kubernetes API server; several transports share it
}

// RoundTrip implements [http.RoundTripper].
func (t identifier) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err != nil || t.known.Load() || !isUnidentified(answer) {
		return answer, err
	}
	said, ok := t.askVersion(r)
	if ok {
		t.known.Store(true)
	}
	if ok || said == "" {
		return answer, nil
	}
	_ = answer.Body.Close() // its content is not used
	return nil, sandbox.Errorf(sandbox.Unavailable, "the server at %s is %w: it answered GET %s with %s, expected a version",
		t.server, errNotKubernetes, t.version.Path, said).
		WithHint("correct its address in the kubeconfig ('kubectl config view --minify' shows it), or choose another --context")
}

// isUnidentified reports whether an answer may come from another server than that of Kubernetes, which gives each answer an ID of
// its audit log. A gateway before it may remove that ID, send its own errors and ask for credentials.
func isUnidentified(answer *http.Response) bool {
	switch answer.StatusCode {
	case http.StatusSwitchingProtocols, http.StatusUnauthorized, http.StatusProxyAuthRequired, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	isRedirect := answer.StatusCode >= 300 && answer.StatusCode < 400 // the client follows it
	return !isRedirect && answer.Header.Get("Audit-Id") == ""
}

// askVersion asks the server for its version, with the credentials of r. It reports whether the answer is one of a Kubernetes
// API server, and describes any other answer; "" if the server does not answer.
func (t identifier) askVersion(r *http.Request) (said string, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), versionTime)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, t.version.String(), http.NoBody)
	if err != nil {
		return "", false
	}
	if authorization := r.Header.Get("Authorization"); authorization != "" {
		ask.Header.Set("Authorization", authorization)
	}
	ask.Header.Set("Accept", contentJSON)
	answer, err := (&http.Client{Transport: t.next}).Do(ask)
	if err != nil {
		return "", false
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxVersion))
	if err != nil {
		return "", false
	}
	var about struct {
		metav1.TypeMeta
		GitVersion string `json:"gitVersion"`
	}
	if json.Unmarshal(data, &about) == nil && (about.GitVersion != "" || about.Kind == "Status") {
		return "", true
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		kind = "no content type"
	}
	return fmt.Sprintf("%d %s (%s)", answer.StatusCode, http.StatusText(answer.StatusCode), kind), false
}
