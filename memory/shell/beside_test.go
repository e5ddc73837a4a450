package shell_test

import (
	"bytes"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// What a stage of a pipeline leaves running shares its variables with the shell, which must not write to them in place: the
// race detector sees it when it does.
func Test_What_A_Stage_Leaves_Running_Keeps_Its_Variables(t *testing.T) {
	t.Parallel()
	sh := shell.New(shell.Options{})
	defer sh.Close()
	script := `for n in 1 2 3 4 5 6 7 8 9 10; do
	: | { { for ((i = 0; i < 50; i++)); do x=$i; done; } & } | :
	for ((j = 0; j < 200; j++)); do v=$j; unset w; w=$j; done
done; wait; echo $v $w`
	var out, msg bytes.Buffer
	if _, err := sh.Run(t.Context(), script, shell.Stdio{Stdout: &out, Stderr: &msg}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "199 199\n" {
		t.Errorf("%q %q", got, msg.String())
	}
}
