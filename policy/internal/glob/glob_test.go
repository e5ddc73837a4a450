package glob

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
)

func Test_Expand_Lists_What_Exists_And_Matches(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "a/x.key", "a/y", "b/c/z.key", "[home]/k.key", "loop -> .", "deep -> b/c", "n\xff.key")
	for _, row := range []struct{ name, pattern, want string }{
		{"a star stays in its component", "*/x.key", "a/x.key"},
		{"two stars follow no links", "**/*.key", "[home]/k.key a/x.key b/c/z.key n\xff.key"},
		{"one star follows links", "*/z.key", "deep/z.key"},
		{"a class", "[ab]/*", "a/x.key a/y b/c"},
		{"braces with slashes", "{a/x,b/c/z}.key", "a/x.key b/c/z.key"},
		{"an escaped metacharacter", `\[home\]/*`, "[home]/k.key"},
		{"slashes and dots", "a//./*.key/", "a/x.key"},
		{"no match", "*/none", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g, err := Parse(dir+"/"+row.pattern, len(dir)+1)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Expand()
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range got {
				got[i] = strings.TrimPrefix(p, dir+"/")
			}
			slices.Sort(got)
			want := strings.Fields(row.want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func Test_Metacharacters_Before_The_Written_Part_Are_Names(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "h[o]me/a", "home/a")
	home := dir + "/h[o]me"
	g, err := Parse(home+"/*", len(home)+1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := g.Expand(); err != nil || !slices.Equal(got, []string{home + "/a"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func Test_Parse_Refuses_A_Glob_That_Is_Broken_Or_Too_Wide(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ pattern, want string }{
		{"/a/[", "invalid glob"},
		{"/a/*/../b", "invalid glob: .. after a metacharacter"},
		{"/" + strings.Repeat("{a,b}", 9), "too many alternatives in braces"},
		{"/{" + strings.Repeat("{a,b},", 300) + "}", "too many alternatives in braces"},
	} {
		if _, err := Parse(row.pattern, 0); err == nil || err.Error() != row.want {
			t.Errorf("%.40s: got %v, want %s", row.pattern, err, row.want)
		}
	}
}

func Test_Expand_Ends_After_Too_Many_Matches(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	entries := make([]string, maxMatches+1)
	for i := range entries {
		entries[i] = strconv.Itoa(i)
	}
	treetest.Make(t, dir, entries...)
	g, err := Parse(dir+"/*", len(dir))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Expand(); err == nil || !strings.Contains(err.Error(), "name a directory instead") {
		t.Errorf("got %v", err)
	}
}
