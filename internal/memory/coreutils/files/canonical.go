package files

import (
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// existence says which parts of a path must exist.
type existence uint8

const (
	allButLast existence = iota
	allExist
	noneExist
)

// canonicalizer resolves paths of which parts may be missing.
type canonicalizer struct {
	proc  *shell.Proc
	need  existence
	links bool // links are followed
	left  int  // links that may still be followed
	path  string
}

const maxLinks = 40

// canonical returns path as an absolute one without ".", ".." and, with links, links.
func canonical(p *shell.Proc, path string, need existence, links bool) (string, error) {
	if path == "" {
		return "", syscall.ENOENT
	}
	c := &canonicalizer{proc: p, need: need, links: links, left: maxLinks, path: "/"}
	if !strings.HasPrefix(path, "/") {
		dir, err := pathname.WorkingDir(p)
		if err != nil {
			return "", err
		}
		c.path = dir
	}
	if err := c.walk(path); err != nil {
		return "", err
	}
	return c.path, nil
}

// walk goes along the elements of path from where it is.
func (c *canonicalizer) walk(path string) error {
	for path = strings.TrimLeft(path, "/"); path != ""; path = strings.TrimLeft(path, "/") {
		element := path
		if i := strings.IndexByte(path, '/'); i >= 0 {
			element = path[:i]
		}
		path = path[len(element):]
		more := strings.Trim(path, "/") != ""
		switch element {
		case ".":
			continue
		case "..":
			c.path = pathname.Dir(c.path)
			continue
		}
		// Each step copies and looks up the whole path, so that its time is that of a long path squared.
		if err := c.proc.Spend(1 + len(c.path)>>6); err != nil {
			return err
		}
		next := pathname.Join(c.path, element)
		rest, err := c.step(next, path, more)
		if err != nil {
			return err
		}
		path = rest
	}
	return nil
}

// step goes to next, and returns the rest of the path: more than before when next is a
// link. What is left begins with a slash, if only to say that next must be a directory.
func (c *canonicalizer) step(next, rest string, more bool) (string, error) {
	info, err := c.proc.FS().Lstat(c.proc.Cred(), next)
	if err != nil {
		missing := shell.Errno(err) == syscall.ENOENT
		if c.need == noneExist || missing && c.need == allButLast && !more {
			c.path = next
			return rest, nil
		}
		return "", err
	}
	if info.Mode&fs.ModeSymlink != 0 && c.links {
		return c.follow(next, rest)
	}
	if info.Mode&fs.ModeSymlink == 0 && !info.IsDir() && c.need != noneExist && rest != "" {
		return "", syscall.ENOTDIR
	}
	c.path = next
	return rest, nil
}

func (c *canonicalizer) follow(link, rest string) (string, error) {
	if c.left--; c.left < 0 {
		if c.need == noneExist {
			c.path = link
			return rest, nil
		}
		return "", syscall.ELOOP
	}
	target, err := c.proc.FS().Readlink(c.proc.Cred(), link)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(target, "/") {
		c.path = "/"
	}
	return target + rest, nil
}
