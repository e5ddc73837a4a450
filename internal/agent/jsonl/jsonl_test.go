package jsonl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

func Test_Long_Lines_Are_Cut_And_Others_Read_Whole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, row := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"ends of both kinds, empty lines, and none at the end", "a\r\n\n  \nb\nc", 10, "a 1 b 1 c 1"},
		{"a line as long as the bound", "0123456789\nb", 10, "0123456789 10 b 1"},
		{"the same at the end", "0123456789", 10, "0123456789 10"},
		{"one byte more", "0123456789x\nb", 10, "cut 11 b 1"},
		{"the same at the end", "0123456789x", 10, "cut 11"},
		{"longer than any buffer, within the bound", long + "\nb", 1 << 20, long + " 200000 b 1"},
		{"longer than any buffer, over the bound", long + "\nb\n" + long, 100_000, "cut 200000 b 1 cut 200000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []string{"whole", "in bytes"} {
				r := strings.NewReader(row.in)
				lines := jsonl.Lines(t.Context(), r, row.limit)
				if in == "in bytes" {
					lines = jsonl.Lines(t.Context(), iotest.OneByteReader(r), row.limit)
				}
				var got []string
				for line, err := range lines {
					if err != nil {
						t.Fatal(err)
					}
					text := string(line.Text)
					if line.Cut {
						text = "cut"
						if len(line.Text) > 1<<10 {
							t.Errorf("%d bytes were kept", len(line.Text))
						}
					} else if line.Size-int64(len(line.Text)) > 1 {
						t.Errorf("%q has size %d", text, line.Size)
					}
					size := line.Size
					if !line.Cut {
						size = int64(len(line.Text))
					}
					got = append(got, fmt.Sprint(text, " ", size))
				}
				if strings.Join(got, " ") != row.want {
					t.Errorf("%s: got %.100q", in, got)
				}
			}
		})
	}
}

func Test_Arrays_And_Objects_Are_Read_Up_To_A_Bound(t *testing.T) {
	t.Parallel()
	many := json.RawMessage("[" + strings.Repeat("1,", 1000) + "1]")
	if n := len(jsonl.Elements[int](many, 10)); n != 10 {
		t.Errorf("%d elements", n)
	}
	if got := jsonl.Elements[int](json.RawMessage(`[1,"x",2]`), 10); len(got) != 2 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
	names, values := jsonl.Members[int](json.RawMessage(`{"b":1,"a":2,"c":3}`), 2)
	if fmt.Sprint(names, values) != "[b a] [1 2]" {
		t.Errorf("got %v %v", names, values)
	}
	for _, none := range []string{"", "null", "1", `"x"`, "{", "[", `{"a"`} {
		if got := jsonl.Elements[int](json.RawMessage(none), 10); len(got) > 0 {
			t.Errorf("%s has elements %v", none, got)
		}
		if names, _ := jsonl.Members[int](json.RawMessage(none), 10); len(names) > 0 {
			t.Errorf("%s has members %v", none, names)
		}
	}
}

func Test_Counts_Are_Within_Their_Range(t *testing.T) {
	t.Parallel()
	for in, want := range map[float64]int64{-1: 0, 0: 0, 1.9: 1, 1e300: 1 << 53, math.Inf(1): 1 << 53, math.Inf(-1): 0} {
		if got := jsonl.Count(in); got != want {
			t.Errorf("Count(%v) = %d, want %d", in, got, want)
		}
	}
}
