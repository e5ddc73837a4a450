package sourcetree

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// fileTypeList has the globs of kinds of files.
const fileTypeList = `asm: *.asm, *.s, *.S
avro: *.avdl, *.avpr, *.avsc
awk: *.awk
bat: *.bat
bazel: *.bazel, *.bzl, BUILD, MODULE.bazel, WORKSPACE, WORKSPACE.bazel
c: *.[chH], *.[chH].in, *.cats
clojure: *.clj, *.cljc, *.cljs, *.cljx
cmake: *.cmake, CMakeLists.txt
cpp: *.[ChH], *.[ChH].in, *.[ch]pp, *.[ch]pp.in, *.[ch]xx, *.[ch]xx.in, *.cc, *.cc.in, *.hh, *.hh.in, *.inl
cs: *.cs
css: *.css, *.scss
csv: *.csv
cython: *.pxd, *.pxi, *.pyx
dart: *.dart
diff: *.diff, *.patch
docker: *Dockerfile*
elixir: *.eex, *.ex, *.exs, *.heex, *.leex, *.livemd
elm: *.elm
erlang: *.erl, *.hrl
fish: *.fish
go: *.go
gradle: *.gradle
graphql: *.graphql, *.graphqls
groovy: *.gradle, *.groovy
h: *.h, *.hh, *.hpp
haskell: *.c2hs, *.cpphs, *.hs, *.hsc, *.lhs
html: *.ejs, *.htm, *.html
java: *.java, *.jsp, *.jspx, *.properties
jinja: *.j2, *.jinja, *.jinja2
js: *.cjs, *.js, *.jsx, *.mjs, *.vue
json: *.json, *.sarif, composer.lock
jsonl: *.jsonl
julia: *.jl
jupyter: *.ipynb, *.jpynb
kotlin: *.kt, *.kts
less: *.less
lisp: *.el, *.jl, *.lisp, *.lsp, *.sc, *.scm
lock: *.lock, package-lock.json
log: *.log
lua: *.lua
make: *.mak, *.mk, [Gg][Nn][Uu]makefile, [Gg][Nn][Uu]makefile.am, [Gg][Nn][Uu]makefile.in, [Mm]akefile, [Mm]akefile.am, [Mm]akefile.in
markdown: *.markdown, *.md, *.mdown, *.mdwn, *.mdx, *.mkd, *.mkdn
md: *.markdown, *.md, *.mdown, *.mdwn, *.mdx, *.mkd, *.mkdn
nix: *.nix
objc: *.h, *.m
ocaml: *.ml, *.mli, *.mll, *.mly
perl: *.PL, *.perl, *.pl, *.plh, *.plx, *.pm, *.t
php: *.php, *.php3, *.php4, *.php5, *.php7, *.php8, *.pht, *.phtml
protobuf: *.proto
ps: *.cdxml, *.ps1, *.ps1xml, *.psd1, *.psm1
py: *.py, *.pyi
r: *.R, *.Rmd, *.Rnw, *.r
rst: *.rst
ruby: *.gemspec, *.rb, *.rbw, .irbrc, Gemfile, Rakefile, config.ru
rust: *.rs
sass: *.sass, *.scss
scala: *.sbt, *.scala
sh: *.bash, *.bashrc, *.csh, *.cshrc, *.ksh, *.kshrc, *.sh, *.tcsh, *.zsh, .bash_login, .bash_logout, .bash_profile, .bashrc, .cshrc, .kshrc, .login, .logout, .profile, .tcshrc, .zlogin, .zlogout, .zprofile, .zshenv, .zshrc, bash_login, bash_logout, bash_profile, bashrc, profile, zlogin, zlogout, zprofile, zshenv, zshrc
sql: *.psql, *.sql
svelte: *.svelte
swift: *.swift
tcl: *.tcl
tex: *.bib, *.cls, *.dtx, *.ins, *.ltx, *.sty, *.tex
tf: *.auto.tfvars.json, *.terraformrc, *.tf, *.tf.json, *.tfrc, *.tfvars.json, *.tfvars, terraform.rc
toml: *.toml, Cargo.lock
ts: *.cts, *.mts, *.ts, *.tsx
txt: *.txt
typescript: *.cts, *.mts, *.ts, *.tsx
vim: *.vim, .gvimrc, .vimrc, _gvimrc, _vimrc, gvimrc, vimrc
vue: *.vue
xml: *.dtd, *.rng, *.sch, *.xhtml, *.xjb, *.xml, *.xml.dist, *.xsd, *.xsl, *.xslt
yaml: *.yaml, *.yml
zig: *.zig
zsh: *.zsh, .zlogin, .zlogout, .zprofile, .zshenv, .zshrc, zlogin, zlogout, zprofile, zshenv, zshrc`

// FileTypes are the kinds that files may be searched by.
type FileTypes struct {
	List             bool
	Wanted, Unwanted []string
	added            [][2]string
	take, leave      []string
}

// NewFileTypes returns the kinds of ripgrep, of which none is chosen.
func NewFileTypes() *FileTypes { return &FileTypes{} }

// Add defines a kind: NAME:GLOB.
func (t *FileTypes) Add(definition string) {
	if name, glob, ok := strings.Cut(definition, ":"); ok {
		t.added = append(t.added, [2]string{name, glob})
	}
}

// globs returns those of a kind; nil when there is none.
func (t *FileTypes) globs(name string) []string {
	var list []string
	for line := range strings.SplitSeq(fileTypeList, "\n") {
		if kind, globs, _ := strings.Cut(line, ": "); kind == name || name == "all" {
			list = append(list, strings.Split(globs, ", ")...) // bounded: a list of this package
		}
	}
	for _, a := range t.added {
		if a[0] == name || name == "all" {
			list = append(list, a[1])
		}
	}
	return list
}

// Settle looks up the kinds; fault is the error.
func (t *FileTypes) Settle() (fault string) {
	for i, names := range [][]string{t.Wanted, t.Unwanted} {
		for _, name := range names {
			globs := t.globs(name)
			if globs == nil {
				return "unrecognized file type: " + name
			}
			if i == 0 {
				t.take = append(t.take, globs...)
			} else {
				t.leave = append(t.leave, globs...)
			}
		}
	}
	return ""
}

// skips reports whether a file is of none of the kinds that are wanted.
func (t *FileTypes) skips(name string) bool {
	matches := func(pattern string) bool { return fnmatch.Match(pattern, name, 0) }
	return slices.ContainsFunc(t.leave, matches) || len(t.take) > 0 && !slices.ContainsFunc(t.take, matches)
}

// Write writes all kinds.
func (t *FileTypes) Write(out *program.Output) int {
	_, _ = out.WriteString(fileTypeList + "\n")
	return out.Close(0)
}
