package account

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func Test_Homes_Are_Those_Of_Accounts_That_Can_Log_In(t *testing.T) {
	t.Parallel()
	const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
sync:x:4:65534:sync:/bin:/bin/sync
me:x:1000:1000::/home/me/:/bin/zsh
broken
service:x:1001:1001::/srv/service:/bin/false
none:x:1002:1002::relative:/bin/sh
slash:x:1003:1003::/:/bin/sh
plain:x:1004:1004::/home/plain:
second:x:1005:1005::/home/me:/bin/sh
`
	all := []string{"/root", "/home/me", "/home/plain"}
	for uid, want := range map[int]string{0: "/root", 1000: "/home/me", 1001: "/srv/service", 1003: "", 7: ""} {
		if own, others := readHomes(strings.NewReader(passwd), uid); own != want || !slices.Equal(others, all) {
			t.Errorf("uid %d: own %q, others %q", uid, own, others)
		}
	}
}

func Test_The_Home_Of_The_Last_Of_Many_Accounts_Is_Found(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3 * maxHomes {
		fmt.Fprintf(&b, "u%d:x:%d:%d::/home/u%d:/bin/sh\n", i, i, i, i)
	}
	last := 3*maxHomes - 1
	own, others := readHomes(strings.NewReader(b.String()), last)
	if own != fmt.Sprintf("/home/u%d", last) || len(others) != maxHomes {
		t.Errorf("own %q, %d others", own, len(others))
	}
}

func Test_An_Account_Of_A_Network_Has_The_Home_That_Belongs_To_It(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "me"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := findOwned(dir, os.Getuid()); got != filepath.Join(dir, "me") {
		t.Errorf("got %q", got)
	}
	if got := findOwned(dir, os.Getuid()+1); got != "" {
		t.Errorf("somebody else's: %q", got)
	}
}
