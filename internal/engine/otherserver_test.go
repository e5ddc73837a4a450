package engine

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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

func Test_A_Server_That_Is_Not_An_Engine_Is_Named(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a page that is not found":        answer(http.StatusNotFound, "text/html", "<html>\n<h1>404</h1></html>"),
		"a page":                          answer(http.StatusOK, "text/html", "<html>\n<p>Welcome</p></html>"),
		"a JSON object that is not found": answer(http.StatusNotFound, "application/json", `{"error":"not found"}`),
		"a JSON object":                   answer(http.StatusOK, "application/json", `{"status":"up"}`),
		"nothing":                         func(http.ResponseWriter, *http.Request) {},
		"a redirection to a page":         http.RedirectHandler("/login", http.StatusFound).ServeHTTP,
		"a method that is not allowed":    answer(http.StatusMethodNotAllowed, "text/plain", "not\nallowed"),
		"a server that fails":             answer(http.StatusInternalServerError, "text/html", "<html>\nfailed</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			checkOtherServer(t, strings.Replace(server.URL, "http://", "tcp://", 1))
		})
	}
	t.Run("a protocol other than HTTP", func(t *testing.T) {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "SSH-2.0-Server\r\n")
				_ = c.Close()
			}
		}()
		checkOtherServer(t, "tcp://"+l.Addr().String())
	})
}

// checkOtherServer checks the error about a server that is not an engine: one line with its address, and a hint.
func checkOtherServer(t *testing.T, host string) {
	t.Helper()
	c, err := Open(t.Context(), []string{"DOCKER_HOST=" + host})
	if err == nil {
		_ = c.Close()
		t.Fatal("it was taken for an engine")
	}
	text := err.Error()
	if sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(text, "the server at "+host+" is not a container engine") || strings.Contains(text, "\n") {
		t.Errorf("the error is %s: %q", sandbox.CodeOf(err), text)
	}
	if hint := sandbox.HintOf(err); !strings.Contains(hint, "DOCKER_HOST") {
		t.Errorf("the hint is %q", hint)
	}
}
