//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// dropbear is an SSH server whose package can be installed without starting it.
const dropbear = "/usr/sbin/dropbear"

// sshKeys has the paths of the SSH server's files.
type sshKeys struct {
	gitExec string // git's directory of programs
	host    string // the server's key
}

// ClientKey is a file of Dir with the key that the user git accepts, KnownHosts a file with
// the server's key. A client must use its own copies of both.
const (
	ClientKey  = "id_test"
	KnownHosts = "known_hosts"
)

// repository creates hello.git, which git.test serves, and the keys for SSH access.
func (n *Internet) repository() error {
	if _, err := os.Stat(dropbear); err != nil {
		return fmt.Errorf("the SSH server of the test network: %w", err)
	}
	out, err := exec.Command("git", "--exec-path").Output() //nolint:noctx // as long as the tests
	if err != nil {
		return err
	}
	n.key = sshKeys{gitExec: strings.TrimSpace(string(out)), host: filepath.Join(n.Dir, "ssh_host_key")}
	script := `
cd "$1"; export HOME="$1" GIT_CONFIG_NOSYSTEM=1
git init -q -b main hello; echo 'hello from git' >hello/README
git -C hello add README; git -C hello -c user.name=a -c user.email=a@example.com commit -qm first
git clone -q --bare hello hello.git; rm -rf hello
dropbearkey -t ed25519 -f ssh_host_key >/dev/null 2>&1
printf 'git.test %s\n' "$(dropbearkey -y -f ssh_host_key | grep '^ssh-ed25519' | cut -d' ' -f1-2)" >` + KnownHosts + `
ssh-keygen -q -t ed25519 -N '' -C test -f ` + ClientKey + `
mkdir -p git-home/.ssh; cp ` + ClientKey + `.pub git-home/.ssh/authorized_keys
printf '[safe]\n\tdirectory = *\n' >git-home/.gitconfig
chmod 755 git-home; chmod 700 git-home/.ssh; chmod 600 git-home/.ssh/authorized_keys`
	if out, err := exec.Command("/bin/sh", "-euc", script, "sh", n.Dir).CombinedOutput(); err != nil { //nolint:noctx // as long as the tests
		return fmt.Errorf("repository: %w: %s", err, out)
	}
	var failed error
	for _, name := range []string{"git-home", "git-home/.ssh", "git-home/.ssh/authorized_keys", "git-home/.gitconfig", "ssh_host_key"} {
		failed = errors.Join(failed, os.Lchown(filepath.Join(n.Dir, name), n.PlainUID, n.PlainUID))
	}
	return failed
}

// serveSSH starts a server for each connection, as inetd(8) does.
func (n *Internet) serveSSH(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		n.done.Go(func() {
			defer c.Close()
			n.ssh(c.(*net.TCPConn)) //nolint:forcetypeassert // what a TCP listener accepts
		})
	}
}

func (n *Internet) ssh(c *net.TCPConn) {
	f, err := c.File()
	if err != nil {
		return
	}
	defer f.Close()
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		return
	}
	cmd := exec.Command(dropbear, "-i", "-m", "-s", "-r", n.key.host) //nolint:noctx // as long as the connection
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(n.Dir, "git-home")}
	n.Prepare(cmd, n.PlainUID)
	cmd.Stdin, cmd.Stdout = f, f
	_ = cmd.Run() // clients see its failures
}
