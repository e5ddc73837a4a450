package proxy

import (
	"context"
	"net"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// nearPorts is the number of ports above a published one that Republish tries first.
const nearPorts = 100

// Republish changes the ports of the host on which spec publishes ports, for a copy of a sandbox: to the next one that is free on
// 127.0.0.1 and that no policy of others publishes, whose sandboxes may be stopped. It reports whether spec publishes any. Another
// program can take a port before the sandbox starts.
func Republish(ctx context.Context, spec *sandbox.Spec, others []sandbox.Spec) (bool, error) {
	taken := map[uint16]bool{}
	for _, one := range append(slices.Clip(others), *spec) {
		for _, list := range publishLists(&one) {
			for _, p := range parsePorts(*list) {
				taken[p.Host] = true
			}
		}
	}
	spec.Layers = slices.Clone(spec.Layers)
	fresh := map[uint16]uint16{} // a port may be published in several layers
	for _, list := range publishLists(spec) {
		var changed []string
		for _, p := range parsePorts(*list) {
			if fresh[p.Host] == 0 {
				port, err := findPort(ctx, p.Host, taken)
				if err != nil {
					return false, err
				}
				fresh[p.Host], taken[port] = port, true
			}
			changed = append(changed, policy.Publish{Host: fresh[p.Host], Port: p.Port}.String())
		}
		*list = changed
	}
	return len(fresh) > 0, nil
}

// publishLists returns the lists of published ports in the policies of a spec.
func publishLists(spec *sandbox.Spec) []*[]string {
	lists := []*[]string{&spec.Policy.Network.Publish}
	for i := range spec.Layers {
		lists = append(lists, &spec.Layers[i].Policy.Network.Publish)
	}
	return lists
}

// parsePorts parses the entries of a list that a policy has accepted.
func parsePorts(list []string) []policy.Publish {
	var ports []policy.Publish
	for _, text := range list {
		if p, ok := policy.ParsePublish(text); ok {
			ports = append(ports, p)
		}
	}
	return ports
}

// findPort returns a port of 127.0.0.1 above port that is free, or any free one; none of taken.
func findPort(ctx context.Context, port uint16, taken map[uint16]bool) (uint16, error) {
	for near := int(port) + 1; near <= min(int(port)+nearPorts, 65535); near++ {
		if !taken[uint16(near)] {
			if found, err := tryPort(ctx, uint16(near)); err == nil {
				return found, nil
			}
		}
	}
	for range nearPorts {
		found, err := tryPort(ctx, 0)
		if err != nil {
			return 0, sandbox.Errorf(sandbox.Exhausted, "find a free port of 127.0.0.1 for port %d: %w", port, err)
		}
		if !taken[found] {
			return found, nil
		}
	}
	return 0, sandbox.Errorf(sandbox.Exhausted, "found no free port of 127.0.0.1 for port %d", port)
}

// tryPort listens on a port of 127.0.0.1 for a moment, and returns it; 0 is a port that the kernel chooses.
func tryPort(ctx context.Context, port uint16) (uint16, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return 0, err
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		port = uint16(at.Port)
	}
	return port, l.Close()
}
