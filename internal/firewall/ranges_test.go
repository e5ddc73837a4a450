package firewall_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// github serves what GitHub's meta API serves.
func github(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func Test_Ranges_Of_GitHub_Are_Opened(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.names.name("github.com", allowed2)
	r := b.rules("@github")
	r.MetaURL = github(t, http.StatusOK, `{"git":["20.0.0.8/29","20.0.0.10/31"],"web":["20.0.0.16/29"],"api":["2a00:77::/120"],"actions":["20.0.0.0/16"]}`)
	report := b.apply(t, r)
	if len(report.Ranges) != 4 || !report.IPv6 {
		t.Errorf("report: %+v", report)
	}
	for _, c := range []struct {
		host string
		port int
		want bool
	}{
		{allowed, 443, true},
		{allowed, 22, true},
		{allowed6, 22, true},
		{allowed, 80, false},
		{strange, 443, true},
		{strange, 22, true},
		{gateway, 443, false},
	} {
		if got := reaches(t, b.box, c.host, c.port); got != c.want {
			t.Errorf("%s port %d: reached %v, want %v", c.host, c.port, got, c.want)
		}
	}

	r.MetaURL = "http://127.0.0.1:1/"
	later, err := firewall.Update(t.Context(), b.box, r, report)
	if err != nil || !slices.Equal(later.Ranges, report.Ranges) {
		t.Errorf("an update without an answer has the ranges %v, error %v", later.Ranges, err)
	}
}

func Test_Ranges_That_Cannot_Be_Trusted_Are_Not_Opened(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.names.name("github.com", allowed)
	for _, c := range []struct {
		name string
		url  string
		want string
	}{
		{"no answer", "http://127.0.0.1:1/", "connection refused"},
		{"not a URL", "::", "missing protocol scheme"},
		{"an error", github(t, http.StatusForbidden, `{"git":["20.0.0.0/24"]}`), "403 Forbidden"},
		{"a redirect", github(t, http.StatusFound, ``), "302 Found"},
		{"not JSON", github(t, http.StatusOK, `<html>`), "invalid character"},
		{"nothing in it", github(t, http.StatusOK, `{}`), "lists 0 ranges"},
		{"everything", github(t, http.StatusOK, `{"git":["0.0.0.0/0"]}`), "too wide"},
		{"a great part of everything", github(t, http.StatusOK, `{"git":["20.0.0.0/8"]}`), "too wide"},
		{"all of IPv6", github(t, http.StatusOK, `{"web":["2000::/3"]}`), "too wide"},
		{"a private range", github(t, http.StatusOK, `{"git":["10.77.0.0/24"]}`), "not public"},
		{"loopback", github(t, http.StatusOK, `{"git":["127.0.0.0/16"]}`), "not public"},
		{"metadata", github(t, http.StatusOK, `{"git":["169.254.169.254/32"]}`), "not public"},
		{"a carrier's range", github(t, http.StatusOK, `{"git":["100.64.0.0/16"]}`), "private address"},
		{"a range that does not begin there", github(t, http.StatusOK, `{"git":["20.0.0.1/24"]}`), "malformed"},
		{"too many", github(t, http.StatusOK, `{"git":["20.0.0.0/24"`+strings.Repeat(`,"20.0.0.0/24"`, 5000)+`]}`), "lists 5001 ranges"},
		{"no end", github(t, http.StatusOK, `{"x":"`+strings.Repeat("x", 9<<20)), "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.rules("@github")
			r.MetaURL = c.url
			report := b.apply(t, r)
			if all := strings.Join(report.Warnings, "\n"); !strings.Contains(all, c.want) || len(report.Ranges) > 0 {
				t.Errorf("ranges %v, warnings\n%s", report.Ranges, all)
			}
			if !reaches(t, b.box, allowed, 443) || reaches(t, b.box, strange, 443) {
				t.Error("not the names alone are open")
			}
			r.RequireRanges = true
			if _, err := firewall.Apply(t.Context(), b.box, r); !errors.Is(err, sandbox.ErrUnavailable) {
				t.Errorf("required, but the error is %v", err)
			}
			if reaches(t, b.box, allowed, 443) {
				t.Error("after an error something is open")
			}
		})
	}
}

func Test_Presets_Are_Rules_That_A_Firewall_Enforces(t *testing.T) {
	t.Parallel()
	for _, name := range firewall.PresetNames() {
		rules, ok := firewall.Preset(name)
		if !ok || len(rules) == 0 {
			t.Errorf("%s: %v %v", name, rules, ok)
		}
	}
	for _, host := range []string{"api.openai.com:443", "auth.openai.com:443", "chatgpt.com:443", "github.com:22", "openrouter.ai:443", "sentry.io:443"} {
		if rules, _ := firewall.Preset("@default"); !slices.Contains(rules, host) {
			t.Errorf("@default does not have %s", host)
		}
	}
	if _, ok := firewall.Preset("@other"); ok {
		t.Error("there is a preset @other")
	}
}
