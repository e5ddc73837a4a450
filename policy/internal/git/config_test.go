package git

import (
	"strings"
	"testing"
)

func Test_A_Configuration_Is_Read_As_Git_Reads_It(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"plain", "[core]\n\thooksPath = a/b\n", "core.hookspath=a/b"},
		{"case", "[CORE]\nHooksPath=x", "core.hookspath=x"},
		{"on the header's line", "[core] a = 1", "core.a=1"},
		{"a subsection keeps its case", `[remote "Or\"ig in"] url = x`, `remote.Or"ig in.url=x`},
		{"the old subsection", "[a.B] c = d", "a.b.c=d"},
		{"quotes and comments", `[a] b = " x # y " z ; c`, "a.b= x # y  z"},
		{"escapes", `[a] b = x\ty\\z\n`, "a.b=x\ty\\z\n"},
		{"continuation", "[a] b = x\\\n  y", "a.b=x  y"},
		{"carriage returns", "[a]\r\nb = x\r\n", "a.b=x"},
		{"no value", "[a] b\nc = d", "a.b=|a.c=d"},
		{"a byte order mark", "\ufeff[a] b = c", "a.b=c"},
		{"what stands before a fault", "[a] b = c\n[broken\nd = e", "a.b=c"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range ParseConfig([]byte(c.text)) {
				got = append(got, v.Key+"="+v.Value)
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

// FuzzParseConfig checks that parsing a hostile configuration ends, without a panic or an endless loop.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[a \"b\\\"c\"]\n d = \"e\\\n f\" # g\n[include]path=~/x\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range ParseConfig(data) {
			if v.Key == "" || len(v.Value) > len(data) {
				t.Errorf("%+v", v)
			}
		}
	})
}
