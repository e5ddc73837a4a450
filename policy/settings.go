package policy

import "github.com/seed434b0696/agent-sandbox/sandbox"

// settings are the single-valued parts of a policy, after all layers: the last
// one that sets a value wins.
type settings struct {
	backend   string
	network   sandbox.Network
	docker    bool
	userns    bool
	debuggers bool
}

func mergeSettings(layers []sandbox.Layer) settings {
	s := settings{network: sandbox.Network{Mode: sandbox.NetworkNone}}
	for _, l := range layers {
		s.apply(l.Policy)
	}
	return s
}

func (s *settings) apply(p sandbox.Policy) {
	if p.Backend != "" {
		s.backend = p.Backend
	}
	if p.Network.Mode != "" {
		s.network = p.Network
	}
	for _, b := range []struct {
		from *bool
		to   *bool
	}{{p.Docker, &s.docker}, {p.Userns, &s.userns}, {p.Debuggers, &s.debuggers}} {
		if b.from != nil {
			*b.to = *b.from
		}
	}
}
