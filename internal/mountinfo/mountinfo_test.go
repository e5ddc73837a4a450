package mountinfo

import (
	"reflect"
	"testing"
)

func Test_Lines_Of_Mountinfo_Are_Parsed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       []Mount
	}{
		{"an ordinary mount", "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n", []Mount{{"98:0", "/mnt1", "/mnt2", "ext3", []string{"rw", "errors=continue"}}}},
		{"escaped names", `1 2 8:1 /a\040b /c\134d\011e rw - tmpfs tmpfs rw` + "\n", []Mount{{"8:1", "/a b", "/c\\d\te", "tmpfs", []string{"rw"}}}},
		{"a backslash at the end stays", `1 2 8:1 / /a\04 rw - tmpfs tmpfs rw`, []Mount{{"8:1", "/", `/a\04`, "tmpfs", []string{"rw"}}}},
		{"a line without a file system", "1 2 8:1 / /x rw\n", []Mount{{"8:1", "/", "/x", "", nil}}},
		{"a short line is skipped", "1 2 8:1 /\n\n", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := Parse(row.text); !reflect.DeepEqual(got, row.want) {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
		})
	}
}

func Test_This_Process_Has_A_Root(t *testing.T) {
	t.Parallel()
	mounts, err := Self()
	if err != nil || len(mounts) == 0 {
		t.Fatalf("%v, %v", mounts, err)
	}
}
