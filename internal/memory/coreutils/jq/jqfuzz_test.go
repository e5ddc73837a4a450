package jq_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// runLeanJQ runs a program on an input with little fuel, and reports whether it ended in time.
func runLeanJQ(t *testing.T, args []string, input string, fuel int64) (status int, ended bool) {
	t.Helper()
	tree := vfs.New(vfs.Options{})
	if err := tree.Mkdir(vfs.Cred{}, "/w", 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(5*time.Minute))
	defer cancel()
	p := shell.NewProc(ctx, shell.ProcOptions{
		FS: tree, Args: args, Env: []string{}, Dir: "/w", Stdin: strings.NewReader(input), Stdout: io.Discard, Stderr: io.Discard,
		Limits: shell.Limits{Fuel: fuel},
	})
	status = programtest.RunOf(t, args[0])(p)
	return status, !errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// doubled is a program whose value is small and whose text is endless.
const doubled = `reduce range(60) as $i (1; [., .])`

// Test_Jq_Ends_On_Values_Whose_Text_Has_No_End goes through values that share their parts.
func Test_Jq_Ends_On_Values_Whose_Text_Has_No_End(t *testing.T) {
	t.Parallel()
	deep := `reduce range(30000) as $i (1; [.])`
	for name, program := range map[string]string{
		"it is written":                  doubled,
		"it is the text of":              doubled + `| tojson | length`,
		"it is put into a string":        doubled + `| "\(.)" | length`,
		"it is encoded":                  doubled + `| @base64 | length`,
		"two are equal":                  `[` + doubled + `] == [` + doubled + `]`,
		"two are ordered":                `[` + doubled + `, ` + doubled + `] | sort | length`,
		"the least of two":               `[` + doubled + `, ` + doubled + `] | min | length`,
		"one is in the other":            doubled + ` as $a | ` + doubled + ` as $b | $a | contains($b)`,
		"one is taken from the other":    `[` + doubled + `] - [` + doubled + `] | length`,
		"it is in the message":           doubled + `| .a`,
		"it is the message":              doubled + `| error`,
		"it is shown":                    doubled + `| debug | length`,
		"it is what the program ends on": doubled + `| halt_error`,
		"it is searched for":             `[range(20000) | 0] as $a | $a | index($a[:10000] + [1])`,
		"it is deep and compared":        deep + ` as $a | ` + deep + ` == $a`,
		"it is deep and written":         deep,
		"much is in much":                `[range(20000)] | contains([range(20000) | -. - 1])`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"jq", "yq"} {
				if _, ended := runLeanJQ(t, []string{command, "-n", program}, "", 500_000); !ended {
					t.Errorf("%s goes on without end", command)
				}
			}
		})
	}
}

// Fuzz_Jq_Program runs implausible programs: they must end soon after their fuel.
func Fuzz_Jq_Program(f *testing.F) {
	for _, s := range []string{
		".a[1:]?", `reduce .[] as [$a, {b: $c}] (0; . + $a)`, `def f(g): g | f(g); f(.)`, `[limit(3; repeat(. * 2))]`, `path(..) |= (. // empty)`,
		`label $out | foreach .[] as $x (0; . + 1; if . > 2 then ., break $out else . end)`, `"\(.a | @base64)" | test("(?<x>a+)+$"; "gx")`, `try error({a: 1}) catch .a`,
		`.a.b[0] += 1 | del(.a, .c) | to_entries`, `to_entries | group_by(.key) | transpose | tojson | fromjson`, `[splits("a*"; "g")] | implode`, `now | strftime("%Y") | strptime("%Y") | mktime`,
		`. as [$a] ?// {$a} | $a`, `[tostream] | fromstream(.[])`, `getpath(["a", 5, "b"]) = 1`, `ltrimstr("x") | ascii_downcase | @sh`, `input, inputs, $__loc__, input_line_number`, `.[1e9] = 1`, `"x" * 1e9`, `import "a" as a; a::f`,
		doubled + " | .. == .", `[.[] | {(.k): .v}] | add | with_entries(.value |= . + 1)`, `walk(if type == "array" then sort else . end) | paths(type == "number")`, `limit(-1; 1, 2), first(empty), isempty(error), until(. > 100; . + 1)`,
	} {
		f.Add(s, `{"a":{"b":[1,2.5,"x",null,true]},"c":[{"k":"é","v":-0}]} [3,[1,2]] "aaa"`, byte(0))
	}
	f.Fuzz(func(t *testing.T, program, input string, mode byte) {
		if strings.Contains(program, "\x00") || len(program) > 1<<12 || len(input) > 1<<12 {
			t.Skip("too long for a command line, or none")
		}
		args := []string{"jq"}
		for i, option := range []string{"-n", "-s", "-R", "-r", "-C", "-S", "-a", "--stream"} {
			if mode&(1<<i) != 0 {
				args = append(args, option)
			}
		}
		status, ended := runLeanJQ(t, append(args, "--", program), input, 100_000)
		if !ended {
			t.Fatalf("%q goes on without end", program)
		}
		if status < 0 {
			t.Fatalf("status %d", status)
		}
	})
}
