package sandbox

import (
	"encoding/json"
	"testing"
	"time"
)

// Y13: a size is read whole or refused; a wrong one never means "unlimited".
func Test_Bytes_Are_Parsed_And_Printed(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Bytes // 0: an error
	}{
		{"1", 1},
		{"512", 512},
		{"1b", 1},
		{"1k", 1 << 10},
		{"64KB", 64 << 10},
		{"64KiB", 64 << 10},
		{"512MiB", 512 << 20},
		{"2gb", 2 << 30},
		{"2 GiB", 2 << 30},
		{"1t", 1 << 40},
		{"4194303t", 4194303 << 40},
		{"", 0},
		{"0", 0},
		{"-1", 0},
		{"4xyz", 0},
		{"1.5g", 0},
		{"g", 0},
		{"1e3", 0},
		{"0x10", 0},
		{"1kk", 0},
		{"9223372036854775808", 0},
		{"4194305t", 0},
		{"99999999999g", 0},
		{"1\n", 0},
		{"1  k", 0},
		{"１", 0},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := ParseBytes(c.in)
			if (err != nil) != (c.want == 0) || err == nil && got != c.want {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
		})
	}
}

func Test_Bytes_Survive_JSON(t *testing.T) {
	for _, b := range []Bytes{1, 1023, 1 << 10, 1536, 512 << 20, 3 << 30, 1 << 40} {
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		var back Bytes
		if err := json.Unmarshal(data, &back); err != nil || back != b {
			t.Errorf("%d became %s became %d, %v", b, data, back, err)
		}
	}
}

func Test_Durations_Are_Parsed(t *testing.T) {
	for in, want := range map[string]time.Duration{"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond} {
		if got, err := ParseDuration(in); err != nil || time.Duration(got) != want {
			t.Errorf("%s is %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0s", "-1s", "90", "1 h", "forever"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
}

func Test_A_Policy_Is_Read_From_JSON_And_Written_Back(t *testing.T) {
	for _, c := range []struct {
		name, in, want string // want "": an error
	}{
		{"nothing", `{}`, `{}`},
		{"network as a word", `{"network":"host"}`, `{"network":"host"}`},
		{"network as true", `{"network":true}`, `{"network":"host"}`},
		{"network as false", `{"network":false}`, `{"network":"none"}`},
		{"an unknown network", `{"network":"lan"}`, ``},
		{"commands of every kind", `{"commands":{"git":"@git","rm":false,"ls":true,"npm":"./npm.sh"}}`, `{"commands":{"git":"@git","ls":true,"npm":"./npm.sh","rm":false}}`},
		{"a command that is a number", `{"commands":{"git":1}}`, ``},
		{"a command that is null", `{"commands":{"git":null}}`, ``},
		{"an empty command", `{"commands":{"git":""}}`, ``},
		{"limits with units", `{"limits":{"wall":"90s","memory":"2gb","output":1048576}}`, `{"limits":{"wall":"1m30s","output":"1MiB","memory":"2GiB"}}`},
		{"a limit that is not a size", `{"limits":{"memory":"4xyz"}}`, ``},
		{"a limit of no time", `{"limits":{"wall":"0s"}}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Policy
			err := json.Unmarshal([]byte(c.in), &p)
			if c.want == "" {
				if err == nil {
					t.Errorf("accepted as %+v", p)
				}
				return
			}
			got, marshalErr := json.Marshal(p)
			if err != nil || marshalErr != nil || string(got) != c.want {
				t.Errorf("got %s, %v, %v, want %s", got, err, marshalErr, c.want)
			}
		})
	}
}
