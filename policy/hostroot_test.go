package policy

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Backends_Without_Images_Refuse_What_Needs_An_Image(t *testing.T) {
	t.Parallel()
	for _, spec := range []sandbox.Spec{{Image: "x"}, {Target: "/x"}, {Volumes: []sandbox.Volume{{Name: "x", Target: "/x"}}}, {Firewall: []string{"x"}}} {
		if err := CheckHostRoot(spec); sandbox.CodeOf(err) != sandbox.Unsupported {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := CheckHostRoot(sandbox.Spec{Workspace: "/x", Stage: "s"}); err != nil {
		t.Error(err)
	}
}
