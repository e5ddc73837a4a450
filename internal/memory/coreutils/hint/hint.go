// Package hint suggests what to use instead of a command that a machine in memory does not have.
package hint

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
)

// For returns the shell's addition to "command not found" for a missing program: a line
// that begins with "hint:" and names an alternative, or the place of the program. It begins with a
// newline, as shell.Options.Hint wants it.
func For(name string) string {
	if instead, ok := findAlternative(name); ok {
		text := "\nhint: " + name + " is not among the programs in memory; "
		if instead != "" {
			text += instead + "; "
		}
		return text + "--backend bwrap or docker runs the real one"
	}
	if similar := similarPrograms(name); len(similar) > 0 {
		return "\nhint: did you mean " + strings.Join(similar, " or ") + "?"
	}
	return "\nhint: help lists the programs in memory; --backend bwrap or docker runs those that are installed there"
}

// findAlternative returns an alternative to a well-known program that is missing; ok is false for
// a name that is not known.
func findAlternative(name string) (instead string, ok bool) {
	for _, list := range []func(string) (string, bool){absentLanguage, absentTool, absentNetwork, absentSystem} {
		if instead, ok = list(name); ok {
			return instead, true
		}
	}
	return "", false
}

// absentLanguage knows compilers, interpreters and build tools.
func absentLanguage(name string) (instead string, ok bool) {
	switch name {
	case "python", "python2", "python3", "ipython", "perl", "ruby", "php", "lua", "tclsh", "Rscript", "R", "julia", "ghci", "irb", "pwsh", "powershell":
		return "awk, jq, bc and bash compute here", true
	case "node", "nodejs", "deno", "bun", "tsx", "ts-node":
		return "jq works on JSON here", true
	case "npm", "npx", "yarn", "pnpm", "corepack", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "conda", "gem", "bundle", "cargo", "composer", "mvn", "gradle", "nuget":
		return "nothing can be installed", true
	case "go", "gofmt", "gcc", "cc", "g++", "c++", "clang", "clang++", "cpp", "ld", "as", "ar", "rustc", "rustup", "java", "javac", "kotlinc", "scalac", "dotnet", "swift", "zig", "tsc", "ghc", "ocaml", "nasm":
		return "nothing can be compiled", true
	case "make", "gmake", "cmake", "ninja", "meson", "bazel", "just", "task", "rake", "ant", "autoconf", "automake", "libtool", "pkg-config":
		return "bash runs the commands of a recipe", true
	case "pytest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "eslint", "prettier", "black", "ruff", "flake8", "mypy", "pylint", "golangci-lint", "shellcheck", "pre-commit":
		return "", true
	}
	return "", false
}

// absentTool knows programs that work on files.
func absentTool(name string) (instead string, ok bool) {
	switch name {
	case "git", "hg", "svn", "gh", "glab", "jj":
		return "diff and patch are here", true
	case "vi", "vim", "nvim", "nano", "emacs", "pico", "micro", "ed", "ex", "joe", "code", "subl":
		return "sed -i, patch and here-documents (cat >FILE <<'EOF') edit files", true
	case "ag", "ack", "pt", "ugrep":
		return "grep -r searches trees", true
	case "locate", "mlocate", "updatedb":
		return "find searches trees", true
	case "bat", "batcat", "most", "pg":
		return "cat and less show files", true
	case "exa", "eza", "lsd":
		return "ls and tree list files", true
	case "ll", "la", "l":
		return "ls -la lists files", true
	case "7z", "7za", "7zr", "rar", "unrar", "lz4", "brotli", "compress", "uncompress":
		return "tar, gzip, bzip2, xz and zip pack files", true
	case "rsync":
		return "cp -a copies trees", true
	case "dos2unix", "unix2dos":
		return "sed -i 's/\\r$//' changes line ends", true
	case "xmllint", "xmlstarlet", "htmlq", "pup", "csvkit", "mlr", "xan", "dasel":
		return "grep, sed and awk work on text", true
	case "sqlite3", "sqlite", "mysql", "mariadb", "psql", "mongosh", "redis-cli", "duckdb":
		return "awk, join and sort work on tables of text", true
	case "convert", "magick", "ffmpeg", "ffprobe", "identify", "exiftool", "pandoc", "pdftotext", "latex", "pdflatex", "dot", "gs", "wkhtmltopdf":
		return "", true
	case "fzf", "dialog", "whiptail", "tmux", "screen", "expect", "xclip", "xsel", "pbcopy", "pbpaste", "open", "xdg-open":
		return "", true
	case "md5":
		return "md5sum and cksum compute checksums", true
	case "shasum":
		return "sha1sum and sha256sum compute checksums", true
	case "openssl", "gpg", "age", "pass":
		return "sha256sum and base64 are here", true
	case "gsed", "ggrep", "gfind", "gdate":
		return "the name without its first letter is GNU's", true
	case "claude", "codex", "gemini", "aider", "cursor", "opencode", "goose", "amp":
		return "", true
	}
	return "", false
}

// absentNetwork knows network programs.
func absentNetwork(name string) (instead string, ok bool) {
	switch name {
	case "wget", "curl", "http", "https", "httpie", "xh", "aria2c", "fetch", "lynx", "w3m":
		return "curl is here when the policy allows hosts", true
	case "ssh", "scp", "sftp", "mosh", "telnet", "ftp", "nc", "ncat", "netcat", "socat", "rclone", "sshpass", "ssh-keygen", "ssh-keyscan", "ssh-agent", "ssh-add":
		return "there is no network but curl's", true
	case "ping", "traceroute", "tracepath", "mtr", "dig", "nslookup", "host", "whois", "ip", "ifconfig", "route", "netstat", "ss", "iptables", "nft", "tcpdump", "nmap", "arp":
		return "there is no network but curl's", true
	case "docker", "docker-compose", "podman", "buildah", "kubectl", "helm", "minikube", "kind", "nerdctl", "terraform", "ansible", "vagrant", "aws", "gcloud", "az", "flyctl", "vercel", "heroku":
		return "", true
	}
	return "", false
}

// absentSystem knows programs for system administration.
func absentSystem(name string) (instead string, ok bool) {
	switch name {
	case "sudo", "su", "doas", "pkexec", "runuser", "setpriv", "gosu":
		return "commands run without it", true
	case "apt", "apt-get", "apt-cache", "aptitude", "dpkg", "yum", "dnf", "rpm", "apk", "pacman", "brew", "snap", "flatpak", "port", "zypper", "emerge", "nix", "nix-env", "choco", "winget":
		return "nothing can be installed", true
	case "systemctl", "service", "journalctl", "initctl", "crontab", "at", "batch", "cron", "shutdown", "reboot", "halt", "poweroff", "dmesg", "logger":
		return "there are no services, and jobs run with &", true
	case "top", "htop", "btop", "atop", "pstree", "uptime", "w", "last", "vmstat", "iostat", "free", "lsof", "fuser":
		return "ps lists the processes", true
	case "pgrep", "pkill", "killall", "pidof":
		return "ps and kill, or jobs and kill %N, find and end processes", true
	case "mount", "umount", "lsblk", "fdisk", "mkfs", "fsck", "losetup", "blkid", "swapon", "sysctl", "modprobe", "lsmod", "lspci", "lsusb", "lscpu", "chroot", "unshare", "nsenter", "lsb_release", "hostnamectl":
		return "df, uname and nproc describe the machine", true
	case "useradd", "adduser", "userdel", "usermod", "groupadd", "passwd", "chpasswd", "visudo", "chsh":
		return "id and getent show users and groups", true
	case "strace", "ltrace", "gdb", "lldb", "valgrind", "perf", "objdump", "nm", "readelf", "ldd", "strip", "dlv":
		return "bash -x traces scripts; strings, od and xxd show the content of files", true
	case "man", "info", "apropos", "whatis", "tldr":
		return "help lists the programs, and NAME --help describes one", true
	case "zsh", "fish", "ksh", "mksh", "dash", "ash", "csh", "tcsh", "busybox":
		return "bash and sh are here", true
	}
	return "", false
}

// similarPrograms returns up to three names that differ from name by a slip of the finger or two.
func similarPrograms(name string) []string {
	if len(name) < 2 || len(name) > 24 {
		return nil
	}
	most := 1
	if len(name) > 4 {
		most = 2
	}
	var best []string
	for _, known := range append(programNames(), commonBuiltins...) {
		switch d := countSlips(name, known, most); {
		case d > most:
		case d < most:
			most, best = d, []string{known}
		case len(best) < 3:
			best = append(best, known)
		}
	}
	return best
}

// commonBuiltins are the words of the shell that people mistype.
var commonBuiltins = []string{"alias", "bash", "cd", "declare", "eval", "exec", "exit", "export", "history", "help", "jobs", "local", "mapfile", "popd", "pushd", "read", "return", "source", "trap", "type", "unset", "wait"}

func programNames() []string {
	var names []string
	for _, c := range coreutils.Commands() {
		names = append(append(names, c.Name), c.Aliases...)
	}
	return names
}

// countSlips counts letters that are wrong, missing, too much or exchanged with their neighbor; more than most count as most+1.
func countSlips(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	var before []int
	last := make([]int, len(b)+1) // bounded: by the longest known name and most
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1) // bounded: by the longest known name and most
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], most+1)
}
