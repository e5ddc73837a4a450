package console

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// funcValue is a flag whose values go to a function.
type funcValue struct {
	set  func(string) error
	text string // the value, for the flag library
	kind string // its type, for completion scripts
}

func (v *funcValue) Set(s string) error {
	v.text = s
	return v.set(s)
}

func (v *funcValue) String() string { return v.text }

func (v *funcValue) Type() string { return v.kind }

// AddFlag adds a flag. If bare is not empty, the flag's argument is optional and defaults to bare.
func AddFlag(fs *pflag.FlagSet, name, bareValue, usage string, set func(string) error) {
	f := fs.VarPF(&funcValue{set: set, kind: "string"}, name, "", usage)
	f.NoOptDefVal = bareValue
}

// AddListFlag adds a flag whose values are appended to list. Empty values are rejected.
func AddListFlag(fs *pflag.FlagSet, name, usage string, list *[]string) {
	AddFlag(fs, name, "", usage, func(s string) error {
		if s == "" {
			return fmt.Errorf("expected a value, got an empty one")
		}
		*list = append(*list, s)
		return nil
	})
}

// AddBoolFlag adds a flag that distinguishes "false" from "not given", because only the
// former overrides a configuration.
func AddBoolFlag(fs *pflag.FlagSet, name, usage string, p **bool) {
	v := &funcValue{kind: "bool", set: func(s string) error {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("expected true or false, got %q", s)
		}
		*p = &b
		return nil
	}}
	fs.VarPF(v, name, "", usage).NoOptDefVal = "true"
}
