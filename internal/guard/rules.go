package guard

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// Rules define what a guard forbids and what it allows. They are plain data, so that the host can send them to
// a guard inside. All paths are absolute, clean and resolved, as they are inside; the JSON form preserves every
// byte of them.
type Rules struct {
	Names   []Name  `json:"names,omitempty"`
	NoRepos []Path  `json:"noRepos,omitempty"` // roots below which no new git repository may appear
	Nested  Nested  `json:"nested"`
	Mounts  []Mount `json:"mounts,omitempty"`
	Rest    Access  `json:"rest"` // access to paths that are below no mount

	Sockets []Path `json:"sockets,omitempty"` // Unix sockets of the host that commands may use; abstract ones begin with "@"
	Private []Path `json:"private,omitempty"` // trees whose sockets belong to the sandbox, besides private mounts
	// Abstract: the sandbox has the host's network namespace, so commands may connect to the abstract sockets
	// in Sockets only.
	Abstract bool `json:"abstract,omitempty"`

	Reads  bool `json:"reads,omitempty"`  // also report refused opens for reading
	Inside bool `json:"inside,omitempty"` // the guard runs in the sandbox's mounts, not on the host
}

// Name is a name that must not be created: no file, directory, link or anything else called Name may be
// created in, or renamed or linked into, Dir.
type Name struct {
	Dir    Path   `json:"dir"`              // need not exist
	Name   Path   `json:"name"`             // one component, compared without regard to case (Unicode); "*" means every name
	Except []Path `json:"except,omitempty"` // with "*": names that are allowed; a trailing * matches any rest
}

// Nested are names that must not be created in any directory below Roots; see [nested.Rules].
type Nested struct {
	Roots        []Path `json:"roots,omitempty"`
	Names        []Path `json:"names,omitempty"`
	Dependencies []Path `json:"dependencies,omitempty"`
	Open         []Path `json:"open,omitempty"`
}

// Mount is a mount point with the access to the files below it.
type Mount struct {
	Path   Path   `json:"path"`
	Access Access `json:"access"`
	Pin    bool   `json:"pin,omitempty"` // it must not be moved, whatever the access is
}

// Access is the permitted use of a path.
type Access int

// The kinds of access.
const (
	Exclude   Access = iota // hidden
	ReadOnly                //
	ReadWrite               //
	Private                 // belongs to the sandbox
)

func (n Nested) compile() *nested.Names {
	return nested.New(nested.Rules{Roots: pathStrings(n.Roots), Names: pathStrings(n.Names), Dependencies: pathStrings(n.Dependencies), Open: pathStrings(n.Open)})
}

// Path is any path of a file system. Its JSON form is base64, because a JSON string cannot hold other bytes
// than Unicode.
type Path string

// MarshalJSON encodes the path's bytes.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

func pathStrings(paths []Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}

// UnmarshalJSON decodes the form that MarshalJSON writes.
func (p *Path) UnmarshalJSON(data []byte) error {
	var b []byte
	err := json.Unmarshal(data, &b)
	*p = Path(b)
	return err
}
