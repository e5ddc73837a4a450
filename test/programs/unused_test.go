package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func Test_The_Cache_Has_The_Newest_Programs_And_Those_That_Run(t *testing.T) {
	now, b := time.Now(), &builder{cache: t.TempDir()}
	add := func(name string, age time.Duration) string {
		dir := filepath.Join(b.cache, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, Guest), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	wanted := map[string]bool{add("checkout-used", time.Hour): true, add("checkout-left", unusedFor+time.Hour): false}
	for n := range stored + 10 {
		wanted[add(fmt.Sprintf("old-%02d", n), running+time.Duration(n+1)*time.Minute)] = n < stored-5 // five newer programs are running
	}
	for n := range 5 {
		wanted[add(fmt.Sprintf("running-%d", n), time.Minute)] = true
	}
	if err := b.removeUnused(now); err != nil {
		t.Fatal(err)
	}
	for dir, want := range wanted {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v; want that it is there: %t", filepath.Base(dir), err, want)
		}
	}

	b.cache = t.TempDir()
	for n := range stored + 10 {
		add(fmt.Sprintf("running-%d", n), time.Minute)
	}
	if err := b.removeUnused(now); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(b.cache); err != nil || len(left) != stored+10 {
		t.Errorf("%d programs that tests may be running are there, %v; want %d", len(left), err, stored+10)
	}
}
