package policy

import (
	"cmp"

	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// settings are the parts of a policy that are not lists of their own, after all
// layers: the last one that sets a value wins.
type settings struct {
	backend   string
	network   network
	docker    bool
	userns    bool
	debuggers bool
	keepTmp   bool
}

func mergeSettings(layers []sandbox.Layer) settings {
	s := settings{network: network{mode: sandbox.NetworkNone, source: "built in", layer: LayerDefaults}}
	for i := range layers {
		s.apply(&layers[i])
	}
	return s
}

func (s *settings) apply(l *sandbox.Layer) {
	p := &l.Policy
	if p.Backend != "" {
		s.backend = p.Backend
	}
	s.network.apply(l)
	for _, b := range []struct {
		from *bool
		to   *bool
	}{{p.Docker, &s.docker}, {p.Userns, &s.userns}, {p.Debuggers, &s.debuggers}} {
		if b.from != nil {
			*b.to = *b.from
		}
	}
	if p.Filesystem.Tmp != "" {
		s.keepTmp = p.Filesystem.Tmp == sandbox.TmpKeep
	}
}

// resolveLimits takes each limit from the last layer that sets it. One that any
// layer but the defaults sets is Required, under its key without "limits.".
func resolveLimits(layers []sandbox.Layer) Limits {
	out := Limits{Required: map[string]string{}}
	for _, l := range layers {
		mergeLimit(&out, l, "wall", &out.Wall, l.Policy.Limits.Wall)
		mergeLimit(&out, l, "output", &out.Output, l.Policy.Limits.Output)
		mergeLimit(&out, l, "memory", &out.Memory, l.Policy.Limits.Memory)
		mergeLimit(&out, l, "tmp", &out.Tmp, l.Policy.Limits.Tmp)
		mergeLimit(&out, l, "file", &out.File, l.Policy.Limits.File)
		mergeLimit(&out, l, "disk", &out.Disk, l.Policy.Limits.Disk)
		mergeLimit(&out, l, "nodes", &out.Nodes, l.Policy.Limits.Nodes)
		mergeLimit(&out, l, "pids", &out.Pids, l.Policy.Limits.Pids)
		mergeLimit(&out, l, "cpu", &out.CPU, l.Policy.Limits.CPU)
	}
	return out
}

// addRequests takes each request from the last layer that sets it.
func (p *Plan) addRequests(layers []sandbox.Layer) {
	for _, l := range layers {
		if n := l.Policy.Requests.Memory; n != 0 {
			p.Requests.Memory, p.reserved = n, layer.Source(l, "requests.memory")
		}
		if n := l.Policy.Requests.CPU; n != 0 {
			p.Requests.CPU, p.reserved = n, layer.Source(l, "requests.cpu")
		}
	}
}

func mergeLimit[T cmp.Ordered](out *Limits, l sandbox.Layer, name string, to *T, v T) {
	var unset T
	if v == unset {
		return
	}
	*to = v
	if l.Name != LayerDefaults {
		out.Required[name] = layer.Source(l, "limits."+name)
	}
}

// raisedLimits returns the keys of the limits that l sets higher than below, the
// limits of the layers before it.
func raisedLimits(below, l sandbox.Limits) []string {
	var keys []string
	raised := func(key string, yes bool) {
		if yes {
			keys = append(keys, key)
		}
	}
	raised("limits.wall", isAbove(below.Wall, l.Wall))
	// Unset, this is the limit of output that is collected in the memory of this process.
	raised("limits.output", isAbove(cmp.Or(below.Output, sandbox.DefaultOutput), l.Output))
	raised("limits.memory", isAbove(below.Memory, l.Memory))
	// Unset, the limit is half of the host's memory, and any number may be higher.
	raised("limits.tmp", l.Tmp > 0 && (below.Tmp == 0 || l.Tmp > below.Tmp))
	// Unset, these are the limits in memory.
	raised("limits.file", isAbove(cmp.Or(below.File, sandbox.DefaultMemoryFile), l.File))
	raised("limits.disk", isAbove(cmp.Or(below.Disk, sandbox.DefaultMemoryDisk), l.Disk))
	raised("limits.nodes", isAbove(cmp.Or(below.Nodes, sandbox.DefaultMemoryNodes), l.Nodes))
	raised("limits.pids", isAbove(below.Pids, l.Pids))
	raised("limits.cpu", isAbove(below.CPU, l.CPU))
	return keys
}

// isAbove reports whether v is a higher limit than below. A zero means no limit in below and
// an unset one in v.
func isAbove[T cmp.Ordered](below, v T) bool {
	var zero T
	return v != zero && below != zero && v > below
}
