package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// NetworkMode is the kind of a [Network].
type NetworkMode string

// The modes.
const (
	NetworkNone  NetworkMode = "none"  // a loopback of the sandbox's own and nothing else
	NetworkHost  NetworkMode = "host"  // the host's network, unfiltered
	NetworkAllow NetworkMode = "allow" // a loopback, and through a proxy what the lists allow
)

// Network defines what a sandbox can reach. In JSON it is "none" or false, "host" or
// true, or an object with the lists, which makes the mode allow. The zero value
// leaves the network of the layer below, which is none at the bottom.
//
// The modes none and host replace what lower layers say. Lists are added to those of
// lower layers whose mode is allow, too.
type Network struct {
	Mode NetworkMode `json:"-"`

	Allow        []string `json:"allow,omitempty"`         // rules of package hosts: "example.com", "*.example.com:443", "10.0.0.0/8"; empty: nothing
	Deny         []string `json:"deny,omitempty"`          // rules that beat allow
	PrivateHosts []string `json:"private_hosts,omitempty"` // allowed names that may resolve to private addresses
	Inspect      []string `json:"inspect,omitempty"`       // names whose TLS is opened although no rule needs it
	Publish      []string `json:"publish,omitempty"`       // "[HOSTPORT:]PORT": ports of the sandbox's loopback that 127.0.0.1 of the host gets
	Any          bool     `json:"any,omitempty"`           // let allow hold rules that match any host: "*", "0.0.0.0/0"
	CA           string   `json:"ca,omitempty"`            // the authority that signs for inspected hosts: "ephemeral" (made for the run), or a PEM file with certificate and key
	Upstream     string   `json:"upstream,omitempty"`      // "http://[USER:PASSWORD@]HOST:PORT": the proxy that all connections go through
}

// networkLists is a Network in its object form.
type networkLists Network

// UnmarshalJSON reads a mode or an object. Unknown keys are errors.
func (n *Network) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true", `"host"`:
		*n = Network{Mode: NetworkHost}
		return nil
	case "false", `"none"`:
		*n = Network{Mode: NetworkNone}
		return nil
	}
	if !bytes.HasPrefix(data, []byte("{")) {
		return fmt.Errorf(`expected "none", "host", true, false or an object such as {"allow": ["example.com"]}, got %s`, data)
	}
	lists := networkLists{Mode: NetworkAllow}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&lists); err != nil {
		return err
	}
	*n = Network(lists)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (n Network) MarshalJSON() ([]byte, error) {
	if n.Mode == NetworkAllow {
		return json.Marshal(networkLists(n))
	}
	return json.Marshal(n.Mode)
}

// Secret is a value that commands must not see. They see a placeholder, which the network's proxy replaces by the value in
// requests to the hosts that the secret is bound to. The value comes from one of the From fields; without any, from File, or else
// from the host's variable with the name of the secret.
type Secret struct {
	FromEnv     string   `json:"from_env,omitempty"`     // a variable of the host's environment
	FromFile    string   `json:"from_file,omitempty"`    // a file; white space around the value is not part of it
	FromCommand []string `json:"from_command,omitempty"` // a program of the host and its arguments, whose output is the value

	Env    string   `json:"env,omitempty"`    // the variable inside that holds the placeholder; without Env and File: the secret's name
	File   string   `json:"file,omitempty"`   // a file that commands see with the placeholder in place of the value
	Hosts  []string `json:"hosts,omitempty"`  // "api.example.com" over TLS on port 443, or a rule with port or http://
	Header string   `json:"header,omitempty"` // the only header field that the value is put into; empty: all
}
