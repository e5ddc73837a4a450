package shell_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Test_Long_Hostile_Texts_Take_No_Time_To_Speak_Of runs long texts, of brackets that do not close above all, in
// the places where they are taken apart. What looks for the end again at each takes minutes.
func Test_Long_Hostile_Texts_Take_No_Time_To_Speak_Of(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"a pattern":     `shopt -s extglob; x=abcabc; [[ $x == $1 ]]; : ${x#$1} ${x%%$1} ${x//$1/z}`,
		"a value":       `x=$1; : "${x##*a}" "${x%%b*}" "${x//a/bb}" "${x/%z/y}" "${#x}"`,
		"names":         `shopt -s extglob; : $1`,
		"an expression": `: $(($1))`,
		"a subscript":   `a=(1 2); : ${a[$1]}`,
		"a script":      `eval "$1"`,
		"a word":        `eval ": $1"`,
		"a prompt":      `x=$1; : ${x@P}`,
		"a number":      `printf %d%f%x "$1" "$1" "$1"`,
		"a declaration": `declare "a[$1]=1"; unset "a[$1]"; declare -i n=$1`,
	}
	for name, script := range scripts {
		for _, piece := range []string{"[", "[[:", "[a-", "*(", "*([", "a[", "a['", "(", "$((", "${a[", "1", "1+", "\\", "{a,", "`", "a=($("} {
			t.Run(name+" of "+piece, func(t *testing.T) {
				t.Parallel()
				sh := shell.New(shell.Options{Commands: coreutils.Commands()})
				defer sh.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				text := strings.Repeat(piece, 100_000/len(piece))
				if _, err := sh.RunScript(ctx, shell.Script{Text: script, Args: []string{text}, Exit: true}, shell.Stdio{Stdout: io.Discard}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
