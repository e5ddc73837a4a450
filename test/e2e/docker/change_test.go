//go:build linux

package docker_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// snapshots returns the names of a sandbox's snapshots.
func (u user) snapshots(name string) []string {
	u.t.Helper()
	var list []struct{ Name string }
	if err := json.Unmarshal([]byte(u.run(u.home, "snapshots", "--json", name)), &list); err != nil {
		u.t.Fatal(err)
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// prefer writes a configuration into a repository, and trusts it as the user.
func (u user) prefer(dir, config string) {
	u.t.Helper()
	write(u.t, dir+"/.agent-sandbox/config.json", config)
	u.run(dir, "trust", "--yes", ".agent-sandbox/config.json")
}

func Test_A_Rejected_Configuration_Leaves_The_Container_And_Its_Snapshots(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("rejected")
	name := strings.TrimSpace(u.run(dir, "start"))
	u.inside(name, "echo precious >~/mine")
	u.run(dir, "snapshot", name, "first")
	u.run(dir, "stop")
	for _, c := range []struct{ config, words string }{
		{`{"egress_allow_domains":["evil.example"]}`, "may only tighten"},
		{`{"ports":["1:70000"]}`, "config.json"},
		{`{`, "config.json"},
	} {
		write(t, dir+"/.agent-sandbox/config.json", c.config)
		u.fail(dir, c.words, "start")
	}
	// The driver or the engine rejects the trusted configuration.
	u.prefer(dir, `{"egress_allow_domains":["not a host"]}`)
	u.fail(dir, "not a host", "start")
	if got := u.snapshots(name); len(got) != 1 || got[0] != "first" {
		t.Errorf("the snapshots are %q", got)
	}
	u.prefer(dir, `{}`)
	u.run(dir, "start")
	if out := u.inside(name, "cat ~/mine"); out.stdout != "precious\n" {
		t.Errorf("the files of the container are gone: %+v", out)
	}
}

func Test_A_Changed_Configuration_Keeps_The_Files_Of_The_Container(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("changed")
	name := strings.TrimSpace(u.run(dir, "start"))
	u.inside(name, "echo precious >~/mine")
	u.run(dir, "snapshot", name, "first")
	u.run(dir, "stop")
	u.prefer(dir, `{"env":{"GREETING":"hello"},"protected":["README.md"]}`)
	if out := u.try(dir, "", "start"); out.code != 0 || !strings.Contains(out.stderr, "its policy has changed") {
		t.Errorf("start: %+v", out)
	}
	if out := u.inside(name, "cat ~/mine; echo $GREETING; echo x >README.md"); out.stdout != "precious\nhello\n" || out.code == 0 {
		t.Errorf("after the change: %+v", out)
	}
	if got := u.snapshots(name); len(got) != 1 || got[0] != "first" {
		t.Errorf("the snapshots are %q", got)
	}
}

// image builds the repository's image with further steps.
func (u user) image(dir, steps string) {
	u.t.Helper()
	write(u.t, dir+"/.agent-sandbox/Dockerfile", "ARG BASE_IMAGE_TAG\nFROM agent-sandbox-base:${BASE_IMAGE_TAG}\n"+steps)
	u.run(dir, "trust", "--yes", ".agent-sandbox/Dockerfile")
	u.run(dir, "build", "--base-tag", baseTag)
}

func Test_A_New_Image_Saves_The_Files_Of_The_Old_Container(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("newimage")
	u.image(dir, "ENV GREETING=before\n")
	name := strings.TrimSpace(u.run(dir, "start"))
	u.inside(name, "echo precious >~/mine")
	u.run(dir, "stop")

	// When the container of a new image cannot start, the files of the old one
	// remain.
	u.image(dir, "USER root\nRUN rm -rf /var/tmp && touch /var/tmp\nUSER node\n")
	u.fail(dir, "not a directory", "start")
	u.image(dir, "ENV GREETING=before\n")
	u.run(dir, "start")
	if out := u.inside(name, "echo $GREETING; cat ~/mine"); out.stdout != "before\nprecious\n" {
		t.Errorf("with the old image again: %+v", out)
	}
	u.run(dir, "stop")

	u.image(dir, "ENV GREETING=after\n")
	if out := u.try(dir, "", "start"); out.code != 0 || !strings.Contains(out.stderr, "its image has changed") {
		t.Errorf("start with a new image: %+v", out)
	}
	if out := u.inside(name, "echo $GREETING; cat ~/mine 2>/dev/null"); out.stdout != "after\n" {
		t.Errorf("with the new image: %+v", out)
	}
	saved := u.snapshots(name)
	if len(saved) != 2 || !strings.HasPrefix(saved[1], "before-") {
		t.Fatalf("the snapshots are %q", saved)
	}
	u.run(dir, "restore", name, saved[1])
	for range 2 {
		if out := u.inside(name, "cat ~/mine"); out.stdout != "precious\n" {
			t.Errorf("restored: %+v", out)
		}
		u.run(dir, "stop")
		u.run(dir, "start")
	}
}
