package console

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// foreign lists flags of docker, bubblewrap, firejail, E2B, srt, Deno and coding agents, without their dashes, with what does the same here.
// use begins with one of our flags; it is empty where advice says why none is needed.
var foreign = []struct {
	names  string
	use    string
	advice string
}{
	{"timeout time-limit timeout-ms wall-time max-time stop-timeout request-timeout", "--limit wall=TIME", ""},
	{"e envs environment setenv set-env", "--env NAME=VALUE", ""},
	{"unsetenv rmenv", "--env '!NAME'", ""},
	{"allow-env", "--env NAME", ""},
	{"v volume mount bind bind-try dev-bind dev-bind-try whitelist read-write allow-write add-dir writable-roots", "--rw PATH", "a path is the same inside and outside"},
	{"ro-bind ro-bind-try allow-read", "--ro PATH", "a path is the same inside and outside"},
	{"read-only deny-write", "--ro PATH", "to make the working directory readable only: --ro ."},
	{"blacklist deny-read tmpfs private", "--exclude PATH", ""},
	{"w workdir workspace chdir cd dir", "--cwd DIR", ""},
	{"net network-mode allow-internet-access internet", "--network=none|host", ""},
	{"unshare-net no-network offline", "--network=none", "which is the default"},
	{"share-net", "--network=host", ""},
	{"allow-net allow-network allow-host allow-hosts allowed-hosts allow-domain allow-domains allowed-domains add-host", "--allow RULE", ""},
	{"deny-net deny-host deny-hosts deny-domain denied-domains", "--deny RULE", ""},
	{"p port ports expose", "--publish [HOSTPORT:]PORT", ""},
	{"m memory mem memory-limit memory-mb memory-swap rlimit-as", "--limit memory=SIZE", ""},
	{"cpus cpu cpu-shares cpu-quota cpu-limit cpu-count", "--limit cpu=NUMBER", ""},
	{"pids-limit rlimit-nproc max-processes", "--limit pids=NUMBER", ""},
	{"rlimit-fsize", "--limit file=SIZE", ""},
	{"shm-size tmp-size", "--limit tmp=SIZE", ""},
	{"profile settings policy", "--config FILE", ""},
	{"overlay overlay-src tmp-overlay overlay-tmpfs copy-on-write", "--stage", ""},
	{"join sandbox-id", "--in NAME", ""},
	{"template", "--image NAME", ""},
	{"allow-unix-socket allow-unix-sockets", "--socket PATH", ""},
	{"allow-run", "--cmd NAME=RULE", ""},
	{"i t interactive tty attach", "", "a command gets the terminal, or the pipes, of its caller"},
	{"rm die-with-parent new-session as-pid-1 init", "", "a sandbox ends with its command"},
	{"u user uid gid group-add", "", "commands run as the user who starts them"},
	{"unshare-all unshare-user unshare-pid unshare-ipc unshare-uts unshare-cgroup ipc pid uts cap-drop caps nonewprivs no-new-privs seccomp noroot", "", "every sandbox has that isolation"},
	{"proc dev private-tmp private-dev", "", "every sandbox has a /proc, a /dev and a /tmp of its own"},
	{"d detach name", "", "'agent-sandbox create NAME' makes a sandbox that lasts, and 'agent-sandbox exec --in NAME' runs commands in it"},
	{"privileged cap-add allow-all dangerously-skip-permissions yolo", "", "no flag switches the isolation off; 'agent-sandbox explain' says which flag allows what"},
	{"entrypoint shell", "", "the command follows the flags: agent-sandbox exec -- COMMAND"},
}

// adviseFlag returns what does the same as a flag of another program; "": flags does not have it, or the flag is unknown.
func adviseFlag(flags *pflag.FlagSet, name string) string {
	for _, f := range foreign {
		if !slices.Contains(strings.Fields(f.names), name) {
			continue
		}
		if f.use == "" {
			return "leave it out: " + f.advice
		}
		if flags.Lookup(ownFlag(f.use)) == nil {
			return ""
		}
		if f.advice != "" {
			return "use '" + f.use + "': " + f.advice
		}
		return "use '" + f.use + "'"
	}
	return ""
}

// ownFlag returns the name of the flag with which a text begins.
func ownFlag(use string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(use, "--"), " ")
	name, _, _ = strings.Cut(name, "=")
	return name
}
