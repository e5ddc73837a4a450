package policy

import "github.com/seed434b0696/agent-sandbox/sandbox"

// settings are the parts of a policy that are not lists of their own, after all
// layers: the last one that sets a value wins.
type settings struct {
	backend   string
	network   network
	docker    bool
	userns    bool
	debuggers bool
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
}
