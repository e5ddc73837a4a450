//go:build linux

package session_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// told returns the frame of a refusal.
func told(kind, op, target, command string) string {
	b := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return frame('g', fmt.Sprintf(`{"kind":%q,"op":%q,"target":%q,"command":%q}`, kind, op, b(target), b(command)))
}

func Test_Refusals_From_A_Guest_Are_Taken_For_Hostile(t *testing.T) {
	good := guard.Refusal{Kind: guard.RefusedPath, Op: "create", Target: "/w/\xff\x1b"}
	begun, fine := frame('b', "\x00\x00\x00\x01"), told("path", "create", "/w/\xff\x1b", "")
	for _, row := range []struct {
		name, answer string
		want         []guard.Refusal
		fell         string
	}{
		{"one", fine, []guard.Refusal{good}, ""},
		{"a command", told("command", "run", "git push", "git"), []guard.Refusal{{Kind: guard.RefusedCommand, Op: "run", Target: "git push", Command: "git"}}, ""},
		{"a kind that is none", told("host", "create", "/w", "") + fine, []guard.Refusal{good}, ""},
		{"an operation that is none", told("path", "\x1b[2J", "/w", "") + fine, []guard.Refusal{good}, ""},
		{"nothing", told("path", "create", "", "") + fine, []guard.Refusal{good}, ""},
		{"a NUL byte", told("path", "create", "/w\x00", "") + fine, []guard.Refusal{good}, ""},
		{"a command without a name", told("command", "run", "x", "") + fine, []guard.Refusal{good}, ""},
		{"no JSON", frame('g', "{") + fine, []guard.Refusal{good}, ""},
		{"another frame", frame('o', "x") + fine, nil, ""},
		{"one without an end", "g\xff\xff\xff\xff" + fine, nil, ""},
		{"a reason", fine + frame('f', `{"code":"closed","text":"it raced\u001b\n"}`) + fine, []guard.Refusal{good}, "it raced??"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := hear(t, begun+row.answer)
			if fmt.Sprint(got) != fmt.Sprint(row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
			if (err == nil) != (row.fell == "") || err != nil && (sandbox.CodeOf(err) != sandbox.Closed || !strings.Contains(err.Error(), row.fell)) {
				t.Errorf("fell: %v", err)
			}
		})
	}
}

func Test_A_Guest_Cannot_Flood_The_Host_With_Refusals(t *testing.T) {
	got, _ := hear(t, frame('b', "\x00\x00\x00\x01")+strings.Repeat(told("path", "create", "/w", ""), 2000))
	if len(got) == 0 || len(got) > 800 { // twice the limit, in case a minute ends meanwhile
		t.Errorf("%d were told", len(got))
	}
}

// hear sets up a guest that sends this answer, and returns the refusals that the host reports.
func hear(t *testing.T, answer string) (got []guard.Refusal, fell error) {
	t.Helper()
	c := pretender(t, answer)
	err := c.Setup(t.Context(), session.Setup{Guard: &guard.Rules{}, Refused: func(r guard.Refusal) { got = append(got, r) }})
	if err != nil {
		t.Fatal(err)
	}
	fell = c.Fallen()
	return got, fell
}
