package cluster

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// serveWatches returns a cluster whose server answers each watch of a resource with its events, and holds the watch open.
func serveWatches(t *testing.T, events map[string]string) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentJSON)
		w.Header().Set("Audit-Id", "x") // as each answer of Kubernetes has one
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, events[filepath.Base(r.URL.Path)])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],
"users":[{"name":"c","user":{}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"c","namespace":"n"}}]}`, server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{Env: []string{"KUBECONFIG=" + file}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	waitingClaim = `{"type":"ADDED","object":{"metadata":{"name":"claim"},"status":{}}}`
	givenClaim   = `{"type":"MODIFIED","object":{"metadata":{"name":"claim"},"status":{"sandbox":{"name":"given"}}}}`
	refusedClaim = `{"type":"MODIFIED","object":{"metadata":{"name":"claim"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"TemplateNotFound","message":"no template"}]}}}`
	strangersPod = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"given","uid":"pod1","ownerReferences":[{"uid":"other","controller":true}]}}}`
	ownPod       = `{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"given","uid":"pod2","ownerReferences":[{"uid":"own","controller":true}]}}}`
)

func Test_A_Claim_Waits_For_Its_Sandbox_Or_Its_Refusal(t *testing.T) {
	t.Parallel()
	claims := Kind{Group: ClaimGroup, Version: "v1alpha1", Resource: "sandboxclaims", name: "SandboxClaim"}
	for _, row := range []struct {
		name, events, want string
		code               sandbox.Code
	}{
		{"a Sandbox is given", waitingClaim + givenClaim, "given", ""},
		{"the controller refuses", waitingClaim + refusedClaim, "", sandbox.NotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := serveWatches(t, map[string]string{"sandboxclaims": row.events})
			got, err := c.AwaitSandbox(t.Context(), Ref{Kind: claims, Name: "claim", UID: "own"})
			if got != row.want || row.code == "" && err != nil || row.code != "" && sandbox.CodeOf(err) != row.code {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func Test_A_Sandbox_Waits_For_The_Pod_That_It_Controls(t *testing.T) {
	t.Parallel()
	sandboxes := Kind{Group: SandboxGroup, Version: "v1alpha1", Resource: "sandboxes", name: "Sandbox"}
	own := Ref{Kind: sandboxes, Name: "claim", UID: "own"}
	c := serveWatches(t, map[string]string{"sandboxes": givenClaim, "pods": strangersPod + ownPod})
	pod, err := c.AwaitPod(t.Context(), own, "given")
	if err != nil || pod.UID != "pod2" {
		t.Errorf("%v, %v", pod, err)
	}
	c = serveWatches(t, map[string]string{"sandboxes": refusedClaim, "pods": strangersPod})
	if _, err := c.AwaitPod(t.Context(), own, "given"); sandbox.CodeOf(err) != sandbox.NotFound || !strings.Contains(err.Error(), "no template") {
		t.Errorf("%v", err)
	}
}
