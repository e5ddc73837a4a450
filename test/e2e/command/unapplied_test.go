package command_test

import (
	"strings"
	"testing"
)

// The sandbox ends with its command, so what a full disk or a change outside keeps from being applied is stored, and the command
// that is printed makes it.
func Test_Changes_That_Cannot_Be_Applied_Are_Stored(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("no user namespace for a small disk: %v", err)
	}
	all := newDays(t)
	for name, row := range map[string]struct{ script, want string }{
		"a full disk": {`unshare -rm bash -c 'mkdir ~/small && mount -t tmpfs -o size=1m none ~/small && cd ~/small && echo old >gone && mkdir d && head -c 500000 /dev/zero >filler
agent-sandbox exec --backend virtual --apply -- sh -c "yes | head -c 300000 >d/a; no=\$(printf \"\\376\"); yes no | head -c 300000 >d/b\$no; ln -s a d/l; chmod 640 d/b*; rm gone" 2>~/said
echo $?; rm filler; sh -c "$(sed -n "s/.*make these changes: //p" ~/said)"; yes no | head -c 300000 | cmp - d/b*; yes | head -c 300000 | cmp - d/a; stat -c %a d/b*; readlink d/l; ls'`, "125\n640\na\nd\n"},
		"a change outside": {`mkfifo go went; agent-sandbox exec --backend virtual --apply -- sh -c 'cat notes.txt x.sh; echo inside >notes.txt; rm x.sh; read x' <go >went 2>~/said &
exec 3>go 4<went; read x <&4; echo outside >notes.txt; echo later >x.sh; echo >&3; wait $!; echo $?; cat notes.txt; sh -c "$(sed -n 's/.*make these changes: //p' ~/said)"; cat notes.txt
grep -o 'not deleted: .*x.sh' ~/said | sed 's| /.*/| |'`, "125\noutside\ninside\nnot deleted: x.sh\n"},
		"nothing is left": {`agent-sandbox exec --backend virtual --apply -- sh -c 'echo new >new' 2>&1; ls ~/.local/share/agent-sandbox`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := all.begin(t)
			out, err := d.run(t, row.script)
			if row.want == "" {
				if err != nil || strings.Contains(out, "unapplied") {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			if err != nil || out != row.want {
				said, _ := d.run(t, "cat ~/said")
				t.Errorf("%v\n%s\nexpected\n%s\nsaid\n%s", err, out, row.want, said)
			}
		})
	}
}
