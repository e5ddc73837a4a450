//go:build linux

package attacker

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// attackSend sends probes with the value of the variable args[0] in the place of
// "@SECRET@", and with other encodings of the value.
func attackSend(args []string) {
	value := os.Getenv(args[0])
	if value == "" {
		fmt.Println("BROKEN the variable is not there")
		return
	}
	if err := os.WriteFile("sent", []byte(value), 0o600); err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	var escaped strings.Builder
	for i := range len(value) {
		fmt.Fprintf(&escaped, "%%%02x", value[i])
	}
	forms := strings.NewReplacer("@SECRET@", value, "@BASIC@", base64.StdEncoding.EncodeToString([]byte("user:"+value)),
		"@ESCAPED@", escaped.String(), "@LENGTH@", strconv.Itoa(len(value)), "@HALF@", value[:len(value)/2], "@REST@", value[len(value)/2:],
		"@HALFLENGTH@", strconv.FormatInt(int64(len(value)/2), 16), "@RESTLENGTH@", strconv.FormatInt(int64(len(value)-len(value)/2), 16))
	for _, arg := range args[1:] {
		p, err := parseProbe(arg)
		if err != nil {
			fmt.Println("BROKEN", err)
			return
		}
		p.Name = fmt.Sprintf("%s %.80q %.80q %.80q %.80q", p.To, p.Target, p.Fields, p.Body, p.Raw)
		for _, s := range []*string{&p.To, &p.Target, &p.Fields, &p.Body, &p.Raw, &p.Host} {
			*s = forms.Replace(*s)
		}
		p.run()
	}
}
