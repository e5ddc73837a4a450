package sandbox_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_What_Needs_Images_Is_Refused_Elsewhere(t *testing.T) {
	t.Parallel()
	for _, spec := range []sandbox.Spec{{Image: "x"}, {Target: "/x"}, {Volumes: []sandbox.Volume{{Name: "x", Target: "/x"}}}} {
		if err := spec.HostOnly(); sandbox.CodeOf(err) != sandbox.Unsupported {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := (sandbox.Spec{Workspace: "/x", Stage: "s"}).HostOnly(); err != nil {
		t.Error(err)
	}
}
