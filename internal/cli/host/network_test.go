package host

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

func Test_The_Rules_Of_A_Firewall_Are_Separated_By_Commas(t *testing.T) {
	for value, want := range map[string][]string{
		"@default":                     {"@default"},
		"@default,example.com:22":      {"@default", "example.com:22"},
		"10.0.0.0/8,[2001:db8::1]:443": {"10.0.0.0/8", "[2001:db8::1]:443"},
		"":                             nil,
		"@default,":                    nil,
	} {
		var o Options
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.Register(fs)
		if err := fs.Parse([]string{"--firewall", value}); (err == nil) != (want != nil) || !slices.Equal(o.Firewall, want) {
			t.Errorf("%q: got %q, %v, want %q", value, o.Firewall, err, want)
		}
	}
}
