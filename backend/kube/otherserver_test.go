package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// answer returns a handler that answers every request alike.
func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// connectTo returns a driver whose kubeconfig names a server.
func connectTo(t *testing.T, address string) *kube.Driver {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],
		clusters: [{name: x, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: x, user: {token: x}}]}`, address)
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return kube.New(kube.Options{Env: []string{"KUBECONFIG=" + name, "HOME=" + t.TempDir()}, DataDir: t.TempDir(), Namespace: "n"})
}

func Test_A_Server_That_Is_Not_Kubernetes_Is_Named(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"a page that is not found":        answer(http.StatusNotFound, "text/html", "<html>\n<h1>404</h1></html>"),
		"a page":                          answer(http.StatusOK, "text/html", "<html>\n<p>Welcome</p></html>"),
		"a JSON object that is not found": answer(http.StatusNotFound, "application/json", `{"error":"not found"}`),
		"a JSON object":                   answer(http.StatusOK, "application/json", `{"version":"1"}`),
		"nothing":                         func(http.ResponseWriter, *http.Request) {},
		"a redirection to a page": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				http.Redirect(w, r, "/login", http.StatusFound)
			}
		},
		"a method that is not allowed": answer(http.StatusMethodNotAllowed, "text/plain", "not\nallowed"),
		"a page that is forbidden":     answer(http.StatusForbidden, "text/html", "<html>\n403</html>"),
	} {
		for kind, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
			t.Run(name+" over "+kind, func(t *testing.T) {
				t.Parallel()
				server := start(handler)
				t.Cleanup(server.Close)
				driver := connectTo(t, server.URL)
				says := []string{"the server at " + server.URL + " is not a Kubernetes API server", "GET /version", "--context"}
				s, err := sandbox.Create(t.Context(), driver, sandbox.Spec{})
				if err == nil {
					_ = s.Close(t.Context())
					t.Fatal("it was made")
				}
				wants(t, err, sandbox.Unavailable, says...)
				_, err = (&kube.PersistentDriver{Inner: driver}).Open(t.Context(), "work")
				wants(t, err, sandbox.Unavailable, says...)
				report, err := driver.Check(t.Context())
				if err != nil || report.OK() || len(report.Findings) != 1 {
					t.Fatalf("%+v, %v", report, err)
				}
				f := report.Findings[0]
				wants(t, sandbox.Errorf(sandbox.Unavailable, "%s", f.Detail).WithHint("%s", f.Fix), sandbox.Unavailable, says...)
			})
		}
	}
}
