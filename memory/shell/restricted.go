package shell

import "strings"

// restricted tells whether this is a restricted shell: bash -r, rbash, set -r. It may not leave its directory,
// run programs by a path, write to files by redirection, replace itself, or become unrestricted. What it runs,
// scripts too, is not restricted.
func (sh *interp) restricted() bool { return sh.opt&optRestricted != 0 }

// restrict makes this a restricted shell from its start: what decides where programs are stays as it is.
func (sh *interp) restrict() {
	sh.opt |= optRestricted
	for _, name := range []string{"PATH", "SHELL", "ENV", "BASH_ENV", "HISTFILE"} {
		sh.own(sh.slot(name)).attr |= attrReadonly
	}
}

// refuses tells whether a restricted shell does not run the program, and says so.
func (sh *interp) refuses(name string) bool {
	if !sh.restricted() || strings.IndexByte(name, '/') < 0 {
		return false
	}
	sh.errorf("%s: restricted: cannot specify `/' in command names", name)
	return true
}
