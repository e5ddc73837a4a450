package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func Test_A_Compile_Error_Is_Reported_Once(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"a.go":        "package m\n\nimport \"strings\"\n\nfunc Upper(s string) string { return strings.ToUpper(s) }\n",
		"a_test.go":   "package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { t.Log(Upper(1)) }\n",
		"tagged.go":   "//go:build other\n\npackage m\n\nvar _ = missing\n",
		"a_darwin.go": "package m\n\nvar _ int = \"darwin\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const inTest = "a_test.go:5:39: cannot use 1"
	for _, c := range []struct {
		system, tags string
		want         []string
	}{
		{"linux", "", []string{inTest}},
		{"linux", "other", []string{inTest, "tagged.go:5:9: undefined: missing"}},
		{"darwin", "", []string{`a_darwin.go:3:13: cannot use "darwin"`, inTest}},
	} {
		t.Setenv("GOOS", c.system)
		wrong, err := check(dir, c.tags, []string{"./..."})
		if err != nil || len(wrong) != len(c.want) {
			t.Fatalf("%s with tags %q: %q, %v; want %q", c.system, c.tags, wrong, err, c.want)
		}
		for i, want := range c.want {
			if !strings.HasPrefix(wrong[i], filepath.Join(dir, want)) {
				t.Errorf("%s with tags %q: %s, want %s", c.system, c.tags, wrong[i], want)
			}
		}
	}
}
