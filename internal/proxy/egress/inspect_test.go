package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const placeholder, value = "PLACEHOLDER-0123456789-abcdef", "s3cr3t-v4lue/+=x"

// inspected is a TLS server behind a proxy that inspects it.
func inspected(t *testing.T, rules []string, change ...func(*Options)) (*bed, *web, *http.Client) {
	t.Helper()
	w := startWeb(t, "api.example")
	ca := testCA(t)
	allow := []string{everywhere}
	for _, r := range rules {
		allow = append(allow, strings.ReplaceAll(r, "HOST", "api.example:"+w.port))
	}
	b := newBed(t, network{Allow: allow, CA: ca, Roots: pemOf(w), Inspect: []string{"api.example"}}, change...)
	return b, w, b.client(t, pool(t, ca.Cert))
}

func pemOf(w *web) []byte {
	c := w.TLS.Certificates[0]
	return []byte("-----BEGIN CERTIFICATE-----\n" + base64.StdEncoding.EncodeToString(c.Certificate[1]) + "\n-----END CERTIFICATE-----\n")
}

func Test_Rules_Apply_Inside_TLS(t *testing.T) {
	t.Parallel()
	b, w, c := inspected(t, []string{"GET https://HOST/repos/**"})
	for _, row := range []struct {
		name, method, path string
		status             int
		kind               Kind
	}{
		{"an allowed request", "GET", "/repos/a?b", 200, ""},
		{"another path", "GET", "/user", 403, KindMethod},
		{"another method", "DELETE", "/repos/a", 403, KindMethod},
		{"encoded dots", "GET", "/repos/%2e%2e/user", 403, KindMethod},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.take()
			res, text := fetch(t, c, row.method, "https://api.example:"+w.port+row.path)
			events := b.take()
			if res.StatusCode != row.status || res.Proto != "HTTP/1.1" {
				t.Fatalf("%d %s %q", res.StatusCode, res.Proto, text)
			}
			if row.kind == "" && len(events) != 0 || row.kind != "" && (len(events) != 1 || events[0].Kind != row.kind) {
				t.Fatalf("%+v", events)
			}
		})
	}
}

func Test_Another_Host_Inside_TLS(t *testing.T) {
	t.Parallel()
	b, w, c := inspected(t, []string{"https://HOST"})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example:"+w.port+"/", nil)
	req.Host = "evil.example"
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest || w.hits.Load() != 0 {
		t.Fatalf("%d", res.StatusCode)
	}
	b.expect(t, KindSNI)
}

func Test_Servers_Are_Verified(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "other.example")
	ca := testCA(t)
	for name, roots := range map[string][]byte{"an unknown authority": nil, "another name": pemOf(w)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, network{Allow: []string{"GET https://api.example:" + w.port + "/**", everywhere}, CA: ca, Roots: roots})
			res, text := fetch(t, b.client(t, pool(t, ca.Cert)), "GET", "https://api.example:"+w.port+"/")
			if res.StatusCode != 502 || !strings.Contains(text, "certificate") || w.hits.Load() != 0 {
				t.Fatalf("%d %q", res.StatusCode, text)
			}
		})
	}
}

func Test_A_Client_Without_The_CA_Is_Reported(t *testing.T) {
	t.Parallel()
	b, w, _ := inspected(t, []string{"https://HOST"})
	c := b.client(t, w.roots)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example:"+w.port+"/", nil)
	if res, err := c.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatal("the client trusts another certificate")
	}
	b.expect(t, KindSNI)
}

func Test_Inspected_TLS_Carries_Only_HTTP_1(t *testing.T) {
	t.Parallel()
	b, w, _ := inspected(t, []string{"https://HOST"})
	c, br, _ := b.connect(t, "api.example:"+w.port)
	tc := tls.Client(&prefixed{Conn: c, Reader: br}, &tls.Config{
		ServerName: "api.example", InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}, //nolint:gosec // the certificate is not what is tested
	})
	if err := tc.HandshakeContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p := tc.ConnectionState().NegotiatedProtocol; p != "http/1.1" {
		t.Fatalf("%q was agreed on", p)
	}
}

func secretFor(hosts ...string) func(*Options) {
	return func(o *Options) {
		o.Secrets = append(o.Secrets, Secret{Name: "KEY", Placeholder: placeholder, Value: value, Hosts: hosts})
	}
}

func Test_Secrets_Are_Put_Into_Requests_To_Their_Host(t *testing.T) {
	t.Parallel()
	b, w, c := inspected(t, []string{"https://HOST"}, secretFor("*.other.example", "https://api.example:1-65535"))
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s)) }
	for _, row := range []struct{ field, send, want string }{
		{"Authorization", "Bearer " + placeholder, "Bearer " + value},
		{"Authorization", basic(placeholder), basic(value)},
		{"X-Api-Key", placeholder, value},
		{"X-Api-Key", placeholder + placeholder, value + value},
		{"X-Api-Key", "nothing", "nothing"},
	} {
		res, _ := fetch(t, c, "GET", "https://api.example:"+w.port+"/", row.field, row.send)
		r, _ := w.seen()
		if res.StatusCode != 200 || r.Header.Get(row.field) != row.want {
			t.Errorf("%s: %q became %q (%d), want %q", row.field, row.send, r.Header.Get(row.field), res.StatusCode, row.want)
		}
	}
	if events := b.take(); len(events) != 0 {
		t.Fatalf("%+v", events)
	}
}

func Test_A_Secret_Has_Its_Field(t *testing.T) {
	t.Parallel()
	_, w, c := inspected(t, []string{"https://HOST"}, func(o *Options) {
		o.Secrets = []Secret{{Name: "KEY", Placeholder: placeholder, Value: value, Hosts: []string{"api.example:1-65535"}, Header: "x-api-key"}}
	})
	fetch(t, c, "GET", "https://api.example:"+w.port+"/", "X-Api-Key", placeholder, "X-Other", placeholder)
	if r, _ := w.seen(); r.Header.Get("X-Api-Key") != value || r.Header.Get("X-Other") != placeholder {
		t.Fatalf("%v", r.Header)
	}
}

// prefixed is a connection whose first bytes a bufio.Reader has read ahead.
type prefixed struct {
	net.Conn

	io.Reader
}

// Read reads from the reader, not from the connection.
func (p *prefixed) Read(b []byte) (int, error) { return p.Reader.Read(b) }

func Test_Placeholders_In_Requests_To_Other_Hosts_Are_Refused(t *testing.T) {
	t.Parallel()
	escaped := strings.ReplaceAll(placeholder, "-", "%2D")
	for _, row := range []struct{ name, raw string }{
		{"in a field", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: a" + placeholder + "b\r\n\r\n"},
		{"in basic authentication", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nAuthorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+placeholder)) + "\r\n\r\n"},
		{"in basic authentication without padding", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nAuthorization: basic " + base64.RawURLEncoding.EncodeToString([]byte("xyz:"+placeholder)) + "\r\n\r\n"},
		{"in a field's name", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n" + placeholder + ": a\r\n\r\n"},
		{"in the path", "GET http://HOST/a/" + placeholder + " HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"in the query", "GET http://HOST/?a=" + placeholder + " HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"in the query, escaped", "GET http://HOST/?a=" + escaped + " HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"in the body", fmt.Sprintf("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\n\r\nab%scd", len(placeholder)+4, placeholder)},
		{"far into the body", fmt.Sprintf("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\n\r\n%s%s", len(placeholder)+200000, strings.Repeat("x", 200000), placeholder)},
		{"in pieces of the body", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(placeholder) + "0\r\n\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, "")
			host := "evil.example:" + w.port
			b := newBed(t, network{Allow: []string{host, everywhere}, CA: testCA(t)}, secretFor("https://api.example"))
			c := b.dial(t)
			go func() { _, _ = io.WriteString(c, strings.ReplaceAll(row.raw, "HOST", host)) }()
			res, err := readReply(bufio.NewReader(c), http.MethodGet)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != 403 || !strings.Contains(res.Body, `secret "KEY"`) {
				t.Fatalf("%d %q", res.StatusCode, res.Body)
			}
			e := b.expect(t, KindSecret)
			if out, _ := json.Marshal(e); bytes.Contains(out, []byte(value)) || strings.Contains(res.Body, value) {
				t.Fatalf("the value is in %s or %s", out, res.Body)
			}
			if r, body := w.seen(); r != nil && strings.Contains(body, placeholder) {
				t.Fatalf("the server got %q", body)
			}
		})
	}
}

func chunks(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("1\r\n" + s[i:i+1] + "\r\n")
	}
	return b.String()
}

func Test_A_Secret_Does_Not_Travel_In_The_Clear(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "")
	host := "api.example:" + w.port
	b := newBed(t, network{Allow: []string{host, everywhere}, CA: testCA(t)}, secretFor("api.example:1-65535"))
	if res, _ := fetch(t, b.client(t, nil), "GET", "http://"+host+"/", "X-Api-Key", placeholder); res.StatusCode != 403 || w.hits.Load() != 0 {
		t.Fatalf("%d", res.StatusCode)
	}
	b = newBed(t, network{Allow: []string{host, everywhere}}, secretFor("http://"+host))
	fetch(t, b.client(t, nil), "GET", "http://"+host+"/", "X-Api-Key", placeholder)
	if r, _ := w.seen(); r == nil || r.Header.Get("X-Api-Key") != value {
		t.Fatal("plain HTTP that was asked for does not work")
	}
}

func Test_Secrets_That_Are_Refused(t *testing.T) {
	t.Parallel()
	good := Secret{Name: "KEY", Placeholder: placeholder, Value: value, Hosts: []string{"http://api.example"}}
	for name, row := range map[string]struct {
		change func(*Secret)
		code   sandbox.Code
	}{
		"a short placeholder":       {func(s *Secret) { s.Placeholder = "abc" }, sandbox.Invalid},
		"a placeholder of odd text": {func(s *Secret) { s.Placeholder = "abcdefghijkl mnop" }, sandbox.Invalid},
		"no value":                  {func(s *Secret) { s.Value = "" }, sandbox.Invalid},
		"a value with a line end":   {func(s *Secret) { s.Value = value + "\r\nX: y" }, sandbox.Invalid},
		"a value with the holder":   {func(s *Secret) { s.Value = value + placeholder }, sandbox.Invalid},
		"every host":                {func(s *Secret) { s.Hosts = []string{"http://*"} }, sandbox.Invalid},
		"a path":                    {func(s *Secret) { s.Hosts = []string{"http://api.example/x"} }, sandbox.Invalid},
		"a field that is none":      {func(s *Secret) { s.Header = "a b" }, sandbox.Invalid},
		"TLS without a CA":          {func(s *Secret) { s.Hosts = []string{"api.example"} }, sandbox.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := good
			row.change(&s)
			_, err := New(Options{Rules: compile(t, hosts.Policy{}), Secrets: []Secret{s}})
			if sandbox.CodeOf(err) != row.code || strings.Contains(err.Error(), value) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
		})
	}
	if _, err := New(Options{Rules: compile(t, hosts.Policy{}), Secrets: []Secret{good, good}}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Fatalf("two secrets with one placeholder: %v", err)
	}
}

func Test_Placeholders_Look_Like_Their_Value(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		value, prefix string
		length        int
	}{
		{"ghp_" + strings.Repeat("x", 36), "ghp_", 40},
		{"sk-ant-api03-" + strings.Repeat("x", 95), "sk-ant-api03-", 108},
		{"short", "", 24},
		{strings.Repeat("x", 61), "", 64},
		{strings.Repeat("x", 5000), "", 512},
	} {
		a, b := NewPlaceholder(row.value), NewPlaceholder(row.value)
		if a == b || !strings.HasPrefix(a, row.prefix) || len(a) != row.length {
			t.Errorf("%q and %q for a value of %d bytes", a, b, len(row.value))
		}
		if _, err := newSecrets([]Secret{{Placeholder: a, Value: row.value}}, false); err != nil {
			t.Error(err)
		}
	}
}

func Test_Events_Are_Bounded(t *testing.T) {
	t.Parallel()
	var got []Event
	r := &reporter{to: func(e Event) { got = append(got, e) }}
	const all = 10 * eventBurst
	began := time.Now()
	for range all {
		r.report(newMalformed(0, "x"))
	}
	if most := eventBurst + int(time.Since(began)/eventEvery) + 1; len(got) < eventBurst || len(got) > most {
		t.Fatalf("%d events came through, at most %d may", len(got), most)
	}
	r.last = time.Now().Add(-time.Minute)
	r.report(newMalformed(0, "x"))
	missed := 0
	for _, e := range got {
		missed += e.Missed
	}
	if missed == 0 || missed+len(got) != all+1 {
		t.Fatalf("%d missed, %d came through, of %d", missed, len(got), all+1)
	}
}
