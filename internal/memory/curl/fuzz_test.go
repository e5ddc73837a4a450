package curl_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/curl"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// answering returns a Way to a server that sends the same response to every request.
func answering(answer []byte) curl.Way {
	return curl.Way{Dial: func(context.Context, string, uint16) (net.Conn, error) {
		mine, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			_, _ = theirs.Write(answer)
		}()
		return mine, nil
	}}
}

func runFuzzed(t *testing.T, way curl.Way, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
	defer cancel()
	sh := shell.New(shell.Options{
		Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin"}, Limits: shell.Limits{Fuel: 50_000_000},
		Fault: func(name string, v any) { t.Errorf("%s panicked: %v", name, v) },
	})
	defer sh.Close()
	if err := sh.Register(curl.Command(way), curl.Wget(way)); err != nil {
		t.Fatal(err)
	}
	var out, msg bytes.Buffer
	if _, err := sh.Run(ctx, script, shell.Stdio{Stdout: &out, Stderr: &msg}); err != nil {
		t.Fatalf("%s does not end: %v", script, err)
	}
	if strings.Contains(msg.String(), "internal error") {
		t.Errorf("%s\n%s", script, msg.String())
	}
}

func Fuzz_Server_Responses(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: /\x01 a?b#c\r\nContent-Length: 0\r\n\r\n", "HTTP/1.0 200\r\n folded\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\\\"\", nonce=b, qop=auth, algorithm=SHA-256-sess\r\n\r\n",
		"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; domain=.; path=x; max-age=99999999999999999999; expires=Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, deflate\r\n\r\n\x1f\x8b\x08\x00", "HTTP/1.1 206 X\r\nContent-Range: bytes 5-9/10\r\nContent-Disposition: attachment; filename=\"..\"\r\n\r\nx",
		"\x16\x03\x01", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		way := answering(answer)
		runFuzzed(t, way, "curl -sSLiOJ --max-redirs 3 --compressed --digest -u a:b -c jar -w '%{json}%{header_json}%{redirect_url}' http://a.b/c; ls -la / > /dev/null")
		runFuzzed(t, way, "curl -s -C 5 -d x -D - -o f http://a.b/c; wget -t 1 -cS --content-disposition --user a --password b --max-redirect 3 http://a.b/c")
	})
}

func Fuzz_Curl_Arguments(f *testing.F) {
	for _, s := range []string{
		"http://a/{b,c}[1-3:2]", "-sSK\nconf", "-F\na=@b,c;type=d;headers=\"e\"", "-w\n%{json}%header{a}\\n%{", "--data-urlencode\na@b",
		"-H\n@x", "http://u:p@[::1]:80/../%2e/?q#f", "-r\n1-\n-C\n-", "-m\n1e9\n--retry\n1\n--retry-delay\n0", "http://0x7f.1/\n-T\n{a,b}", "--ne\n-:\n--no-next",
	} {
		f.Add(s)
	}
	way := answering([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"))
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\x00") || strings.Contains(line, "retry") {
			return // A retry waits for seconds.
		}
		for _, program := range []string{"curl -s ", "wget -q -t 1 "} {
			var script strings.Builder
			script.WriteString(program)
			for word := range strings.SplitSeq(line, "\n") {
				script.WriteString(" '" + strings.ReplaceAll(word, "'", `'\''`) + "'")
			}
			runFuzzed(t, way, script.String())
		}
	})
}
