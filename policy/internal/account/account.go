// Package account reads the home directories of the host's accounts from the account database (passwd(5)).
package account

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	database = "/etc/passwd"
	homesDir = "/home" // where accounts of a network have their homes

	maxHomes   = 10_000 // login homes that are read from the database
	maxEntries = 256    // entries of homesDir that are looked at for an account that is not in the database
)

// Homes returns the home directories of this host's accounts as they are written: own is that of uid, empty if it has
// none, and others are those of the other accounts that can log in, in the order of the database. It starts no
// program and asks no server: the home of an account of a network is the directory in /home that belongs to uid.
func Homes(uid int) (own string, others []string) {
	if f, err := os.Open(database); err == nil {
		own, others = readHomes(f, uid)
		_ = f.Close()
	}
	if own == "" {
		own = findOwned(homesDir, uid)
	}
	return own, slices.DeleteFunc(others, func(home string) bool { return home == own })
}

// readHomes reads a database. An account that cannot log in has no home of a person, except that of uid.
func readHomes(r io.Reader, uid int) (own string, others []string) {
	seen := map[string]bool{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) != 7 {
			continue
		}
		home := filepath.Clean(fields[5])
		if !filepath.IsAbs(home) || home == "/" {
			continue
		}
		if fields[2] == strconv.Itoa(uid) && own == "" {
			own = home
		}
		if isLogin(fields[6]) && !seen[home] && len(others) < maxHomes {
			seen[home], others = true, append(others, home)
		}
	}
	return own, others
}

// isLogin reports whether a person can log in with a shell; no shell is sh.
func isLogin(shell string) bool {
	return !slices.Contains([]string{"nologin", "false", "true", "sync", "shutdown", "halt"}, filepath.Base(shell))
}

// findOwned returns the directory in dir that belongs to uid, or "".
func findOwned(dir string, uid int) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries)
	if err != nil {
		return ""
	}
	slices.Sort(names)
	for _, name := range names {
		var st syscall.Stat_t
		path := filepath.Join(dir, name)
		if syscall.Lstat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR && int(st.Uid) == uid {
			return path
		}
	}
	return ""
}
