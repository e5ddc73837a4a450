package hook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
)

// Not in parallel: the children of this process are the workers of this test alone.
func Test_A_Worker_Cannot_Open_Files_And_Has_No_Environment(t *testing.T) {
	t.Setenv("SECRET_KEY", "canary")
	e := inWorkers(t, hook.Limits{})
	if got, err := next(t, e, &hook.Request{}, "return {data: 1}"); got != "1" || err != nil {
		t.Fatal(got, err)
	}
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // that thread has ended
		}
		for pid := range strings.FieldsSeq(string(data)) {
			seen++
			limits, err := os.ReadFile(fmt.Sprintf("/proc/%s/limits", pid))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Max open files 0 0", "Max file size 0 0", "Max core file size 0 0", "Max data size 469762048 469762048"} {
				if !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), want) {
					t.Errorf("no %q in\n%s", want, limits)
				}
			}
			environ, err := os.ReadFile(fmt.Sprintf("/proc/%s/environ", pid))
			if err != nil || strings.Contains(string(environ), "canary") {
				t.Errorf("the environment is %q, %v", environ, err)
			}
		}
	}
	if seen == 0 {
		t.Fatal("there is no worker")
	}
}
