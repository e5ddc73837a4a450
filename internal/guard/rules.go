package guard

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// Rules define what a guard forbids and what it allows. They are plain data, so that they can be sent to
// where the guard runs. All paths are absolute, clean and resolved, as they are inside; the JSON form keeps
// every byte of them.
type Rules struct {
	Names   []Name  `json:"names,omitempty"`
	NoRepos []Path  `json:"noRepos,omitempty"` // roots below which no new git repository may appear
	Nested  Nested  `json:"nested"`
	Mounts  []Mount `json:"mounts,omitempty"`
	Rest    Access  `json:"rest"` // of what lies below no mount

	Sockets []Path `json:"sockets,omitempty"` // Unix sockets of the host that may be connected to; abstract ones begin with "@"
	Private []Path `json:"private,omitempty"` // trees whose sockets are the sandbox's own, besides those of private mounts
	// Abstract: abstract names of sockets are the host's, so that only those among Sockets may be connected to.
	Abstract bool `json:"abstract,omitempty"`

	Reads  bool `json:"reads,omitempty"`  // report refused opens for reading, too
	Inside bool `json:"inside,omitempty"` // the guard runs inside the mounts that it reports about, not on the host
}

// Name is a name that must not be created: no file, directory, link or anything else called Name may be
// created in, or renamed or linked into, Dir.
type Name struct {
	Dir    Path   `json:"dir"`              // need not exist
	Name   Path   `json:"name"`             // one component, compared without regard to case (Unicode); "*" is every name
	Except []Path `json:"except,omitempty"` // with "*": names that are allowed; a trailing * matches any rest
}

// Nested are names that must not be created in any directory below Roots; see [nested.Rules].
type Nested struct {
	Roots        []Path `json:"roots,omitempty"`
	Names        []Path `json:"names,omitempty"`
	Dependencies []Path `json:"dependencies,omitempty"`
	Open         []Path `json:"open,omitempty"`
}

// Mount is a path that is mounted on, and what may be done below it.
type Mount struct {
	Path   Path   `json:"path"`
	Access Access `json:"access"`
	Pin    bool   `json:"pin,omitempty"` // it must not be moved, with any access
}

// Access is the permitted use of a path.
type Access int

// The kinds of access.
const (
	Exclude   Access = iota // hidden
	ReadOnly                //
	ReadWrite               //
	Private                 // the sandbox's own
)

func (n Nested) compile() *nested.Names {
	return nested.New(nested.Rules{Roots: plain(n.Roots), Names: plain(n.Names), Dependencies: plain(n.Dependencies), Open: plain(n.Open)})
}

// Path is any name of a file system: its JSON form is base64, since a JSON string holds Unicode only.
type Path string

// MarshalJSON encodes the path's bytes.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

func plain(paths []Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}

// UnmarshalJSON decodes what MarshalJSON made.
func (p *Path) UnmarshalJSON(data []byte) error {
	var b []byte
	err := json.Unmarshal(data, &b)
	*p = Path(b)
	return err
}
