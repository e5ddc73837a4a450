package hook_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// tree returns a file system of names and texts.
func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func Test_Hooks_Are_Found_However_They_Are_Declared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		files        map[string]string
		create, next bool
	}{
		{"plain functions", map[string]string{"src/index.js": "function Create() { return {locale: 'ok'} }\nfunction Next() {}"}, true, true},
		{"exported functions", map[string]string{"src/index.js": "export function Create() { return {locale: 'ok'} }"}, true, false},
		{"an exported constant", map[string]string{"src/index.js": "export const Create = async () => ({locale: 'ok'})"}, true, false},
		{"a local name that is exported as a hook", map[string]string{"src/index.js": "const mine = () => ({locale: 'ok'})\nexport { mine as Create }"}, true, false},
		{"a hook of another file", map[string]string{"src/index.js": "export { Create } from './create'", "src/create.ts": "export const Create = (): object => ({locale: 'ok'})"}, true, false},
		{"all of another file", map[string]string{"src/index.js": "export * from './a'", "src/a.ts": "export function Create() { return {locale: 'ok'} }; export function Next() {}"}, true, true},
		{"a module that exports as in Node.js", map[string]string{"src/index.js": "exports.Create = () => ({locale: 'ok'})"}, true, false},
		{"a plain function that imports", map[string]string{"src/index.js": "import {x} from './x.js'\nfunction Create() { return {locale: x} }", "src/x.ts": "export const x: string = 'ok'"}, true, false},
		{"an import from beside and from above", map[string]string{"src/index.js": "import x from '../lib'\nimport {a} from './a/b.mjs'\nfunction Create() { return {locale: x.o + a} }", "lib/index.ts": "export default {o: 'o'}", "src/a/b.mts": "export const a = 'k'"}, true, false},
		{"an import of JSON", map[string]string{"src/index.js": "import x from './x.json'\nfunction Create() { return {locale: x.y} }", "src/x.json": `{"y": "ok"}`}, true, false},
		{"an import when it runs", map[string]string{"src/index.js": "export async function Create() { const {x} = await import('./x'); return {locale: x} }", "src/x.js": "export const x = 'ok'"}, true, false},
		{"types that are imported from missing files", map[string]string{"src/index.js": "", "src/index.ts": "import type { Context } from '@yao/runtime'\nimport { Message } from 'types'\nexport function Create(ctx: Context, m: Message[]) { return {locale: 'ok'} }"}, true, false},
		{"a comment at the end", map[string]string{"src/index.js": "function Create() { return {locale: 'ok'} } // the end"}, true, false},
		{"an export that is not a function", map[string]string{"src/index.js": "export const Create = 1"}, false, false},
		{"nothing", map[string]string{"src/index.js": ""}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			entry := "src/index.js"
			if _, ok := c.files["src/index.ts"]; ok {
				entry = "src/index.ts"
			}
			s, err := newEngine(t, inProcess()).Compile(t.Context(), tree(c.files), entry)
			if err != nil {
				t.Fatal(err)
			}
			if s.HasCreate() != c.create || s.HasNext() != c.next {
				t.Errorf("it has Create %v and Next %v", s.HasCreate(), s.HasNext())
			}
			got, err := s.Create(t.Context(), &hook.Request{}, nil)
			if err != nil || c.create != (got.Locale == "ok") {
				t.Errorf("got %+v, %v", got, err)
			}
			if got, err := s.Next(t.Context(), &hook.Request{}, hook.Payload{}); err != nil || got.Data != nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func Test_A_Script_That_Is_Not_Valid_Is_Refused_With_Its_Place(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
	}{
		{"a file outside", "\nimport x from '../../../../etc/passwd'\nx()", "it leads out of the assistant's directory (src/index.ts:2:15)"},
		{"an absolute path", "import '/etc/passwd'", "absolute paths are refused; hooks import files of the assistant's directory (src/index.ts:1:8)"},
		{"a module of Node.js", "import fs from 'fs'\nfs.readFileSync('x')", "there are no packages and no modules of Node.js; hooks import files of the assistant's directory, as \"./name\" (src/index.ts:1:16)"},
		{"a module of Node.js by its new name", "import 'node:child_process'", "no modules of Node.js"},
		{"a package", "import _ from 'lodash'\n_()", "there are no packages"},
		{"a package that is required", "const _ = require('lodash')", "there are no packages"},
		{"a URL", "import 'https://example.com/x.js'", "there are no packages"},
		{"a URL of a file", "import 'file:///etc/passwd'", "there are no packages"},
		{"data as a URL", "import 'data:text/javascript,1'", "there are no packages"},
		{"a missing file", "import './none'", "there is no such file in the assistant's directory (src/index.ts:1:8)"},
		{"a file that is not a source", "import './notes.txt'", "there is no such file"},
		{"what an export needs", "export * from './none'", "there is no such file"},
		{"an error of an imported file", "import './bad'", "(src/bad.js:2:"},
		{"an error of syntax", "function Create( {\n  return 1 +\n}", "(src/index.ts:"},
		{"two errors", "import './none'; import './none2'", ", and 1 more (src/index.ts:1:8)"},
		{"await outside of a function", "await 1", "(src/index.ts:1:1)"},
		{"an error when it is loaded", "\nthrow new Error('at once')", "at once (src/index.ts:2:7)"},
		{"recursion of the source", strings.Repeat("(", 2000), "(src/index.ts:"},
		{"too much", "// " + strings.Repeat("x", 1<<20), "has more than"},
		{"bytes that are none of a text", "\xff\xfe\x00", "src/index.ts"},
	} {
		for place, e := range engines(t) {
			t.Run(place+": "+c.name, func(t *testing.T) {
				t.Parallel()
				_, err := e.Compile(t.Context(), tree(map[string]string{"src/index.ts": c.text, "src/bad.js": "\nlet 1", "src/notes.txt": "x"}), "src/index.ts")
				if err == nil {
					t.Fatal("it was compiled")
				}
				code := sandbox.CodeOf(err)
				if code != sandbox.Invalid && code != sandbox.Denied || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "compile hooks: ") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v\nwant %s", code, err, c.want)
				}
			})
		}
	}
}

func Test_An_Entry_That_Is_Not_There_Is_Not_Found(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	for entry, code := range map[string]sandbox.Code{"src/index.ts": sandbox.NotFound, "src": sandbox.NotFound, "../x.ts": sandbox.Invalid, "/x.ts": sandbox.Invalid, "": sandbox.Invalid} {
		_, err := e.Compile(t.Context(), tree(map[string]string{"src/other.ts": ""}), entry)
		if sandbox.CodeOf(err) != code {
			t.Errorf("%q: %v, want code %s", entry, err, code)
		}
	}
}

// Source code that nests without end ends the compiler's process, not this one.
func Test_A_Source_That_Nests_Without_End_Is_Refused(t *testing.T) {
	t.Parallel()
	e := inWorkers(t, hook.Limits{})
	for _, text := range []string{strings.Repeat("(", 1e6), strings.Repeat("[", 1e6), "x" + strings.Repeat("?1:x", 2e5), strings.Repeat("{", 1e6), "let x = " + strings.Repeat("-+", 4e5) + "1"} {
		s, err := e.Compile(t.Context(), tree(map[string]string{"a.js": text}), "a.js")
		if code := sandbox.CodeOf(err); s == nil && code != sandbox.Exhausted && code != sandbox.Invalid {
			t.Errorf("%.10s: %v", text, err)
		}
	}
	compile(t, e, "b.js", "1")
}

// openTree writes a directory to the disk, as for real assistants.
func openTree(t *testing.T) (dir string, fsys fs.FS) {
	t.Helper()
	dir = t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, root.FS()
}

func Test_Links_Out_And_Pipes_Of_A_Directory_Are_Refused(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.js")
	if err := os.WriteFile(outside, []byte("export const x = 'canary'"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		make       func(dir string) error
	}{
		{"a link out", "cannot be read", func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "x.js")) }},
		{"a link out by steps", "cannot be read", func(dir string) error {
			up := strings.Repeat("../", 20) + strings.TrimPrefix(outside, "/")
			return os.Symlink(up, filepath.Join(dir, "x.js"))
		}},
		{"a directory that is a link", "cannot be read", func(dir string) error { return os.Symlink(filepath.Dir(outside), filepath.Join(dir, "x")) }},
		{"a pipe", "not a regular file", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "x.js"), 0o600) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, fsys := openTree(t)
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			text := "import {x} from './x.js'\nexport function Create() { return {locale: x} }"
			if strings.Contains(c.name, "directory") {
				text = strings.Replace(text, "./x.js", "./x/secret.js", 1)
			}
			if err := os.WriteFile(filepath.Join(dir, "index.js"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := newEngine(t, inProcess()).Compile(t.Context(), fsys, "index.js")
			if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "(index.js:1:17)") || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func Test_The_Same_Content_Is_Compiled_Once(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	dir, fsys := openTree(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locale := func() (*hook.Script, string) {
		t.Helper()
		s, err := e.Compile(t.Context(), fsys, "index.js")
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Create(t.Context(), &hook.Request{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, got.Locale
	}
	write("index.js", "import {x} from './x'\nexport function Create() { return {locale: x} }")
	write("x.js", "export const x = 'one'")
	first, got := locale()
	if again, _ := locale(); again != first || got != "one" {
		t.Errorf("it was compiled again, or is %q", got)
	}
	write("x.js", "export const x = 'two'")
	if s, got := locale(); s == first || got != "two" {
		t.Errorf("a change of an imported file was not seen: %q", got)
	}
	write("x.ts", "export const x = 'three'")
	if _, got := locale(); got != "three" {
		t.Errorf("a file that counts more was not seen: %q", got)
	}
}

// A comment may name a source map, which the engine and the compiler would read from this host: a pipe would block them.
func Test_No_Source_Map_Of_The_Host_Is_Read(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.map")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	comment := "//# sourceMappingURL=file://" + name
	for _, text := range []string{
		"function Next() { return {data: eval('1\\n" + comment + "')} }",
		"function Next() { return {data: (0, eval)('1\\n" + comment + "')} }",
		"function Next() { return {data: new Function('return 1\\n" + comment + "')()} }",
		"function Next() { return {data: 1} }\n" + comment,
		"function Next() { return {data: 1} }\n" + strings.Replace(comment, "#", "@", 1),
		"function Next() { return {data: 1} }\n/*" + strings.TrimPrefix(comment, "//") + " */",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			done := make(chan error, 1)
			go func() {
				s, err := newEngine(t, inProcess()).Compile(t.Context(), tree(map[string]string{"a.js": text}), "a.js")
				if err == nil {
					_, err = s.Next(t.Context(), &hook.Request{}, hook.Payload{})
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(deadline.Scale(20 * time.Second)):
				t.Fatal("it waits for the pipe")
			}
		})
	}
}
