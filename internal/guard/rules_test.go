package guard_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
)

func Test_Rules_Keep_Every_Byte_In_JSON(t *testing.T) {
	want := guard.Rules{
		Names:   []guard.Name{{Dir: "/w/\xff", Name: "*", Except: []guard.Path{"a\nb", "\u2028"}}},
		Mounts:  []guard.Mount{{Path: "/w", Access: guard.ReadWrite, Pin: true}},
		NoRepos: []guard.Path{"/w"}, Rest: guard.Private, Sockets: []guard.Path{"@x\x00y"}, Private: []guard.Path{"/run"},
		Abstract: true, Reads: true, Inside: true,
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got guard.Rules
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
