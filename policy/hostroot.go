package policy

import "github.com/seed434b0696/agent-sandbox/sandbox"

// CheckHostRoot returns Unsupported when the spec requests something that only backends with images have. Backends whose root
// file system is the host's call it.
func CheckHostRoot(spec sandbox.Spec) error {
	for _, f := range []struct {
		name string
		set  bool
	}{{"an image", spec.Image != ""}, {"a target", spec.Target != ""}, {"volumes", len(spec.Volumes) > 0}, {"a firewall", len(spec.Firewall) > 0}} {
		if f.set {
			return sandbox.Errorf(sandbox.Unsupported, "only backends with images have %s", f.name).WithHint("--backend docker")
		}
	}
	return nil
}
