package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// generate writes some 45 MB of data, identical each time.
func generate(dir string) error {
	g := &generator{dir: dir, r: rand.New(rand.NewPCG(42, 0))} //nolint:gosec // the data need not be secret
	for range 5000 {
		word := make([]byte, 2+g.r.IntN(9))
		for i := range word {
			word[i] = byte('a' + g.r.IntN(26))
		}
		g.words = append(g.words, string(word))
	}
	g.trees()
	g.lines()
	g.records()
	return g.err
}

// generator remembers the first error.
type generator struct {
	dir   string
	r     *rand.Rand
	words []string
	err   error
}

func (g *generator) line(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.words[g.r.IntN(len(g.words))]
	}
	return strings.Join(list, " ")
}

func (g *generator) write(name, text string) {
	if g.err != nil {
		return
	}
	name = filepath.Join(g.dir, name)
	if g.err = os.MkdirAll(filepath.Dir(name), 0o755); g.err == nil {
		g.err = os.WriteFile(name, []byte(text), 0o644)
	}
}

// trees writes a tree of 1,000 files of 10 KiB and one of 10,000 small files.
func (g *generator) trees() {
	for i := range 1000 {
		var b strings.Builder
		for b.Len() < 10200 {
			if i%50 == 0 && b.Len() >= 5000 && !strings.Contains(b.String(), "NEEDLE") {
				b.WriteString("func NEEDLE_xyz() {\n")
			}
			b.WriteString(g.line(10) + "\n")
		}
		g.write(fmt.Sprintf("tree1k/d%02d/f%04d.txt", i%20, i), b.String()[:10240-40])
	}
	for i := range 10000 {
		kind := "txt"
		if i%3 == 0 {
			kind = "go"
		}
		g.write(fmt.Sprintf("tree10k/a%d/b%02d/file%05d.%s", i%10, i/10%20, i, kind), fmt.Sprintf("x%d\n", i))
	}
}

func (g *generator) lines() {
	var b strings.Builder
	for range 1_000_000 {
		fmt.Fprintln(&b, g.r.IntN(1_000_000_001))
	}
	g.write("nums1m.txt", b.String())
	b.Reset()
	for b.Len() < 10<<20 {
		fmt.Fprintf(&b, "%d %s foo=%d %s\n", 1+g.r.IntN(1000), g.words[g.r.IntN(5000)], 1+g.r.IntN(99), g.line(8))
	}
	g.write("text10m.txt", b.String())
	b.Reset()
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d %s\n", i, g.words[i%5000])
	}
	g.write("lines100k.txt", b.String())
	b.Reset()
	for i := range 100 {
		mark := "y"
		if i%3 == 0 {
			mark = "x"
		}
		fmt.Fprintf(&b, "%d %s%s\n", i, mark, g.words[i])
	}
	g.write("small.txt", b.String())
}

// records writes 10,000 JSON objects.
func (g *generator) records() {
	type record struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Score int      `json:"score"`
		Tags  []string `json:"tags"`
	}
	list := make([]record, 10_000)
	for i := range list {
		list[i] = record{i, g.words[i%5000], 1 + g.r.IntN(1000), []string{g.words[i*7%5000], g.words[i*13%5000]}}
	}
	text, err := json.Marshal(list)
	if g.err == nil {
		g.err = err
	}
	g.write("data.json", string(text))
}
