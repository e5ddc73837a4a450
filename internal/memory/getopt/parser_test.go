package getopt_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
)

var table = []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 'b', Long: "bytes", Arg: getopt.Required},
	{Short: 'c', Long: "color", Arg: getopt.Optional},
	{Short: 'c', Long: "colour", Arg: getopt.Optional},
	{Long: "line-buffered", ID: getopt.First},
	{Long: "lines", ID: getopt.First + 1, Arg: getopt.Required},
}

var cases = []struct {
	name  string
	args  []string
	order getopt.Order
}{
	{"nothing", nil, 0},
	{"operands alone", []string{"x", "y"}, 0},
	{"bundled letters", []string{"-aab5"}, 0},
	{"a letter's argument in the next word", []string{"-ab", "5", "x"}, 0},
	{"operands before options", []string{"x", "-a", "y", "--bytes=3"}, 0},
	{"options end at two dashes", []string{"-a", "--", "-b", "x"}, 0},
	{"two dashes as an argument", []string{"-b", "--", "-a"}, 0},
	{"a lone dash is an operand", []string{"-a", "-", "-a"}, 0},
	{"order required", []string{"-a", "x", "-a"}, getopt.RequireOrder},
	{"operands in order", []string{"-a", "x", "-a", "--", "y"}, getopt.InOrder},
	{"an abbreviation", []string{"--by", "3"}, 0},
	{"an empty attached value", []string{"--bytes=", "--color="}, 0},
	{"an optional value apart is an operand", []string{"--color", "never", "-c", "x"}, 0},
	{"an optional value attached to a letter", []string{"-cnever"}, 0},
	{"an ambiguous name", []string{"--line"}, 0},
	{"an ambiguous name with a value", []string{"--line=3"}, 0},
	{"an exact name that begins another", []string{"--lines=3"}, 0},
	{"an unknown letter", []string{"-ay"}, 0},
	{"an unknown name", []string{"--nothing=3"}, 0},
	{"a missing value of a letter", []string{"-ab"}, 0},
	{"a missing value of a name", []string{"--bytes"}, 0},
	{"a value too many", []string{"--all=3"}, 0},
	{"help abbreviated", []string{"--he"}, 0},
	{"version", []string{"--version"}, 0},
}

// Test_Arguments_Are_Read_As_Getopt_Reads_Them asks getopt(1), which is a thin cover
// of the C library's getopt_long, for each case.
func Test_Arguments_Are_Read_As_Getopt_Reads_Them(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, gotErr := read(c.args, c.order)
			want, wantErr := real(t, c.args, c.order)
			if gotErr != wantErr {
				t.Fatalf("error %q, want %q", gotErr, wantErr)
			}
			if gotErr == "" && got != want {
				t.Errorf("read %q, want %q", got, want)
			}
		})
	}
}

func Test_Reading_Continues_After_A_Wrong_Option(t *testing.T) {
	t.Parallel()
	p := getopt.New([]string{"x", "-ya"}, table)
	if p.Next() || p.Err == nil {
		t.Fatal("-y was taken")
	}
	if !p.Next() || p.ID != 'a' {
		t.Errorf("behind -y came %d, want -a", p.ID)
	}
}

func Test_An_Abbreviation_Of_Two_Names_With_One_Meaning_Is_Not_Ambiguous(t *testing.T) {
	t.Parallel()
	p := getopt.New([]string{"x", "--col=3"}, table)
	if !p.Next() || p.ID != 'c' || p.Value != "3" {
		t.Errorf("--col=3 gave %d %q, %v", p.ID, p.Value, p.Err)
	}
}

func Test_Bare_Tables_Have_No_Help(t *testing.T) {
	t.Parallel()
	p := getopt.New([]string{"x", "--help"}, table)
	p.Bare = true
	if p.Next() || p.Err == nil || p.Err.Error() != "unrecognized option '--help'" {
		t.Errorf("--help gave %d, %v", p.ID, p.Err)
	}
}

func Test_Unread_Arguments_Stay_In_Args(t *testing.T) {
	t.Parallel()
	p := getopt.New([]string{"x", "op", "-a", "rest"}, table)
	p.Next()
	if got := p.Args(); !slices.Equal(got, []string{"op", "rest"}) {
		t.Errorf("left %q", got)
	}
}

func read(args []string, order getopt.Order) (words, fault string) {
	p := getopt.New(append([]string{"x"}, args...), table)
	p.Order = order
	var out []string
	for p.Next() {
		switch {
		case p.ID == getopt.Operand:
			out = append(out, "'"+p.Value+"'")
			continue
		case p.Long == "":
			out = append(out, "-"+string(rune(p.ID)))
		default:
			out = append(out, "--"+p.Long)
		}
		if p.HasValue {
			out = append(out, "'"+p.Value+"'")
		} else if p.ID == 'c' {
			out = append(out, "''")
		}
	}
	if p.Err != nil {
		return "", p.Err.Error()
	}
	out = append(out, "--")
	for _, a := range p.Args() {
		out = append(out, "'"+a+"'")
	}
	return strings.Join(out, " "), ""
}

func real(t *testing.T, args []string, order getopt.Order) (words, fault string) {
	t.Helper()
	short := map[getopt.Order]string{getopt.Permute: "", getopt.RequireOrder: "+", getopt.InOrder: "-"}[order] + "ab:c::"
	all := append([]string{"-n", "x", "-o", short, "-l", "all,bytes:,color::,colour::,line-buffered,lines:,help,version", "--"}, args...)
	cmd := exec.CommandContext(t.Context(), "getopt", all...)
	var out, msg strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); err != nil {
		return "", strings.TrimPrefix(strings.TrimSpace(msg.String()), "x: ")
	}
	return strings.TrimSpace(out.String()), ""
}
