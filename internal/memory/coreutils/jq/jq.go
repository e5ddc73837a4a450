// Package jq holds the programs jq and yq.
package jq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/jq/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func jqCommand() program.Description {
	return program.Description{
		Name: "jq", Usage: "[OPTIONS...] FILTER [FILES...]\n[OPTIONS...] -f FILE [FILES...]\n[OPTIONS...] --args FILTER [STRINGS...]\n[OPTIONS...] --jsonargs FILTER [JSON_VALUES...]",
		Summary: "apply FILTER to JSON texts",
		Help:    jqHelp, Run: runJQ,
	}
}

const jqHelp = `  -n, --null-input          take null as the only input
  -R, --raw-input           take each line as a string
  -s, --slurp               take all inputs as one array, or one string with -R
  -c, --compact-output      write each value on one line
  -r, --raw-output          write strings without quotes
      --raw-output0         the same, with NUL behind each
  -j, --join-output         the same, with nothing behind
  -a, --ascii-output        write only ASCII
  -S, --sort-keys           sort the keys of objects
  -C, --color-output        write with colours
  -M, --monochrome-output   write without colours
      --tab                 indent with tabs
      --indent n            indent with n spaces, up to 7
      --unbuffered          write at once
      --stream              read values as paths and leaves
      --stream-errors       the same; invalid JSON becomes a value
      --seq                 use the separator of application/json-seq
  -f, --from-file file      read the filter from a file
  -L directory              look for modules there
  -e, --exit-status         exit with 1 when the last value is false or null, 4 without any
  -b, --binary              does nothing
      --arg name value      set $name to a string
      --argjson name value  set $name to a JSON value
      --slurpfile name file set $name to an array of the JSON values in file
      --rawfile name file   set $name to the text of file
      --args                the other arguments are strings: $ARGS.positional
      --jsonargs            the other arguments are JSON values: $ARGS.positional
  -h, --help                show this help and exit
  -V, --version             show the version and exit

The exit status is 0, 1 and 4 with -e, 2 for wrong options and inputs, 3 for a filter that
cannot be compiled, 5 for an error of the filter.`

// jqJob holds the parsed command line of jq.
type jqJob struct {
	p   *shell.Proc
	out *program.Output

	style                      interpreter.Style
	null, rawIn, slurp         bool
	raw, join, nul, unbuffered bool
	stream, streamErrors, seq  bool
	fromFile, exitStatus       bool
	compact, color, mono       bool
	dirs                       []string
	names                      []string
	vars                       map[string]interpreter.Value
	positional                 []interpreter.Value
	filter                     string
	hasFilter                  bool
	files                      []string
	rest                       byte // what further operands are: 'f', 's' strings, 'j' JSON
	done                       bool // help was shown, or an option is wrong
	status                     int
	memory                     program.MemoryGuard
	in                         *jqInputs
	lastFalse, wroteAny        bool
}

func runJQ(p *shell.Proc) int {
	j := &jqJob{p: p, memory: program.MemoryGuard{P: p}, vars: map[string]interpreter.Value{}, rest: 'f', style: interpreter.Style{Indent: 2}}
	defer j.memory.Close()
	j.out = program.NewOutput(p)
	j.options()
	if j.done {
		return j.out.Close(j.status)
	}
	if !j.hasFilter {
		if len(j.names) == 0 && len(j.p.Args) == 1 {
			fmt.Fprint(p.Stderr, jqCommand().HelpText("jq"))
			return 2
		}
		if !j.hasFilter && !j.fromFile {
			j.filter = "."
		}
	}
	program, status := j.compile()
	if status != 0 {
		return status
	}
	return j.run(program)
}

func (j *jqJob) wrong(format string, args ...any) {
	fmt.Fprintf(j.p.Stderr, "jq: "+format+"\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq\n", args...)
	j.done, j.status = true, 2
}

// options reads the arguments as jq does: letters may be bundled, and all is an operand
// behind "--".
func (j *jqJob) options() {
	args := j.p.Args[1:]
	onlyOperands := false
	for len(args) > 0 && !j.done {
		arg := args[0]
		args = args[1:]
		switch {
		case onlyOperands || len(arg) < 2 || arg[0] != '-' || arg[1] != '-' && ascii.DigitValue(arg[1]) < 10 || arg[1] != '-' && ascii.DigitValue(arg[1]) == 99:
			j.operand(arg)
		case arg == "--":
			onlyOperands = true
		case arg[1] == '-':
			args = j.long(arg[2:], args)
		default:
			args = j.letters(arg, args)
		}
	}
}

func (j *jqJob) operand(arg string) {
	switch {
	case !j.hasFilter:
		j.filter, j.hasFilter = arg, true
	case j.rest == 's':
		j.positional = append(j.positional, arg)
	case j.rest == 'j':
		v, ok := interpreter.ParseJSON(arg)
		if !ok {
			j.wrong("Invalid JSON text passed to --jsonargs")
			return
		}
		j.positional = append(j.positional, v)
	default:
		j.files = append(j.files, arg)
	}
}

func (j *jqJob) letters(arg string, args []string) []string {
	if arg[1] == 'L' {
		dir := arg[2:]
		if dir == "" {
			if len(args) == 0 {
				fmt.Fprint(j.p.Stderr, "jq: -L takes a parameter: (e.g. -L /search/path or -L/search/path)\n")
				j.wrongQuietly()
				return nil
			}
			dir, args = args[0], args[1:]
		}
		j.dirs = append(j.dirs, dir)
		return args
	}
	for i := 1; i < len(arg); i++ {
		if !j.letter(arg[i]) {
			j.wrong("Unknown option: %s", arg)
			return nil
		}
	}
	return args
}

func (j *jqJob) wrongQuietly() { j.done, j.status = true, 2 }

func (j *jqJob) letter(c byte) bool {
	switch c {
	case 's':
		j.slurp = true
	case 'r':
		j.raw = true
	case 'j':
		j.raw, j.join = true, true
	case 'a':
		j.style.ASCII = true
	case 'n':
		j.null = true
	case 'f':
		j.fromFile = true
	case 'S':
		j.style.SortKeys = true
	case 'c':
		j.compact = true
	case 'C':
		j.color = true
	case 'M':
		j.color, j.mono = false, true
	case 'R':
		j.rawIn = true
	case 'e':
		j.exitStatus = true
	case 'b':
	case 'h':
		_, _ = j.out.WriteString(jqCommand().HelpText("jq"))
		j.done = true
	case 'V':
		_, _ = j.out.WriteString("jq-1.7.1\n")
		j.done = true
	default:
		return false
	}
	return true
}

// jqLetters are the letters of long options.
var jqLetters = map[string]byte{
	"slurp": 's', "raw-output": 'r', "join-output": 'j', "ascii-output": 'a', "null-input": 'n', "from-file": 'f', "sort-keys": 'S',
	"compact-output": 'c', "color-output": 'C', "monochrome-output": 'M', "raw-input": 'R', "exit-status": 'e', "binary": 'b', "help": 'h', "version": 'V',
}

func (j *jqJob) long(name string, args []string) []string {
	if c, ok := jqLetters[name]; ok {
		j.letter(c)
		return args
	}
	switch name {
	case "raw-output0":
		j.raw, j.nul = true, true
	case "tab":
		j.style.Tab, j.compact = true, false
	case "unbuffered":
		j.unbuffered = true
	case "stream":
		j.stream = true
	case "stream-errors":
		j.stream, j.streamErrors = true, true
	case "seq":
		j.seq = true
	case "args":
		j.rest = 's'
	case "jsonargs":
		j.rest = 'j'
	case "indent":
		return j.indent(args)
	case "arg", "argjson", "slurpfile", "rawfile":
		return j.named(name, args)
	default:
		j.wrong("Unknown option: --%s", name)
	}
	return args
}

func (j *jqJob) indent(args []string) []string {
	if len(args) == 0 {
		j.wrong("--indent takes one parameter")
		return nil
	}
	n, err := strconv.Atoi(args[0])
	switch {
	case err != nil:
		n = 0
	case n < 0:
		j.wrong("Cannot indent less than zero characters")
		return nil
	case n > 7:
		j.wrong("Cannot indent more than 7 characters")
		return nil
	}
	j.style.Tab, j.style.Indent = false, n
	return args[1:]
}

// named sets a variable.
func (j *jqJob) named(option string, args []string) []string {
	if len(args) < 2 {
		value := map[string]string{"arg": "value", "argjson": "text", "slurpfile": "filename", "rawfile": "filename"}[option]
		j.wrong("--%s takes two parameters (e.g. --%s varname %s)", option, option, value)
		return nil
	}
	name, text := args[0], args[1]
	var v interpreter.Value = text
	switch option {
	case "argjson":
		var ok bool
		if err := j.memory.Take(valueWeight * len(text)); err != nil {
			j.wrong("%s", shell.Strerror(err))
			return nil
		}
		if v, ok = interpreter.ParseJSON(text); !ok {
			j.wrong("Invalid JSON text passed to --argjson")
			return nil
		}
	case "slurpfile", "rawfile":
		data, err := j.readFile(text)
		if err == nil && option == "slurpfile" {
			if err = j.memory.Take(valueWeight * len(data)); err == nil {
				v, err = jqValues(data)
			}
		} else {
			v = strings.ToValidUTF8(data, "\uFFFD")
		}
		if err != nil {
			msg := err.Error()
			if shell.Errno(err) != 0 {
				msg = "Could not open " + text + ": " + shell.Strerror(err)
			}
			j.wrong("Bad JSON in --%s %s %s: %s", option, name, text, msg)
			return nil
		}
	}
	if _, ok := j.vars[name]; !ok {
		j.names = append(j.names, name)
		j.vars[name] = v
	}
	return args[2:]
}

func (j *jqJob) readFile(name string) (string, error) {
	f, err := j.p.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := program.ReadWhole(j.p, f)
	return string(b), err
}

// valueWeight is about how many bytes of memory the values of a text take for each of its bytes: two bytes can be a number in
// a list that grows.
const valueWeight = 24

func jqValues(text string) (interpreter.Value, error) {
	var all []interpreter.Value
	d := interpreter.NewDecoder(strings.NewReader(text))
	for {
		v, err := d.Next()
		if errors.Is(err, io.EOF) {
			return interpreter.NewArray(all...), nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v) // bounded: the caller charges for the text
	}
}

// compile compiles the filter with all that it may reach.
func (j *jqJob) compile() (*interpreter.Program, int) {
	text := j.filter
	if j.fromFile {
		if !j.hasFilter {
			j.wrong("--from-file takes a parameter")
			return nil, 2
		}
		var err error
		if text, err = j.readFile(j.filter); err != nil {
			fmt.Fprintf(j.p.Stderr, "jq: error: Could not open %s: %s\n", j.filter, shell.Strerror(err))
			return nil, 2
		}
	}
	j.in = &jqInputs{j: j, files: j.files}
	if len(j.files) == 0 {
		j.in.files = []string{"-"}
	}
	named := interpreter.NewObject()
	for _, n := range j.names {
		named = named.With(n, j.vars[n])
	}
	args := interpreter.NewObject().With("positional", interpreter.NewArray(j.positional...)).With("named", named)
	names := append(slices.Clone(j.names), "ARGS")
	j.vars["ARGS"] = args
	program, err := interpreter.Compile(text, interpreter.Options{
		Names: names, Variables: j.vars, Environ: j.p.Environ(), Inputs: j.in, Now: j.p.Now, Zone: zone.Load(j.p.Getenv("TZ")),
		Debug: func(v interpreter.Value) {
			_ = j.encode(j.p.Stderr, interpreter.Style{}, v)
			_, _ = io.WriteString(j.p.Stderr, "\n")
		},
		Stderr: func(v interpreter.Value) { _ = j.toStderr(v) },
		Spend:  j.p.Spend, Hold: j.memory.Take, Module: j.module, Dirs: j.searchDirs(),
	})
	if ce, ok := errors.AsType[*interpreter.CompileError](err); ok {
		for _, e := range ce.Errs {
			fmt.Fprintf(j.p.Stderr, "jq: error: %s\n", strings.TrimPrefix(e.Error(), "error: "))
		}
		s := "s"
		if len(ce.Errs) == 1 {
			s = ""
		}
		fmt.Fprintf(j.p.Stderr, "jq: %d compile error%s\n", len(ce.Errs), s)
		return nil, 3
	}
	if err != nil {
		return nil, j.end(err)
	}
	return program, 0
}

// toStderr writes a value as -r does.
func (j *jqJob) toStderr(v interpreter.Value) error {
	if text, ok := v.(string); ok {
		_, err := io.WriteString(j.p.Stderr, text)
		return err
	}
	return j.encode(j.p.Stderr, interpreter.Style{}, v)
}

// encode writes a value as JSON, which may be endless.
func (j *jqJob) encode(w io.Writer, s interpreter.Style, v interpreter.Value) error {
	return s.Encode(v, func(text []byte) ([]byte, error) {
		if err := j.p.Spend(len(text)>>6 + 1); err != nil {
			return nil, err
		}
		_, err := w.Write(text)
		return text[:0], err
	})
}

func (j *jqJob) run(program *interpreter.Program) int {
	switch {
	case j.compact:
		j.style.Indent, j.style.Tab = 0, false
	}
	if j.color && !j.mono {
		j.style.Colors = jqColors(j.p.Getenv("JQ_COLORS"))
	}
	if j.null {
		if status, ended := j.one(program, nil); ended {
			return j.out.Close(status)
		}
	} else {
		for {
			v, err := j.in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if status, stop := j.inputError(err); stop {
					return j.out.Close(status)
				}
				continue
			}
			if status, ended := j.one(program, v); ended {
				return j.out.Close(status)
			}
			if j.out.HasFailed() {
				break
			}
		}
	}
	return j.out.Close(j.exit())
}

// inputError reports an invalid input.
func (j *jqJob) inputError(err error) (status int, stop bool) {
	var pe *interpreter.ParseError
	_ = j.out.Flush()
	switch {
	case errors.As(err, &pe):
	case errors.Is(err, syscall.ENOMEM):
		fmt.Fprint(j.p.Stderr, "jq: error: cannot allocate memory\n")
		return 2, true
	default:
		return j.p.Status(err), true
	}
	if j.seq {
		fmt.Fprintf(j.p.Stderr, "jq: ignoring parse error: %s\n", pe.Text)
		return 0, false
	}
	fmt.Fprintf(j.p.Stderr, "jq: parse error: %s\n", pe.Text)
	return 2, true
}

func (j *jqJob) exit() int {
	switch {
	case j.status != 0:
		return j.status
	case j.in.failed:
		return 2
	case j.exitStatus && !j.wroteAny:
		return 4
	case j.exitStatus && j.lastFalse:
		return 1
	}
	return 0
}

// one runs the filter on an input; ended reports that jq has to read no more inputs.
func (j *jqJob) one(program *interpreter.Program, v interpreter.Value) (status int, ended bool) {
	err := program.Run(v, j.write)
	if err == nil {
		return 0, false
	}
	if e, ok := errors.AsType[*interpreter.Error](err); ok {
		_ = j.out.Flush()
		j.status = 5
		if s, ok := e.Value.(string); ok {
			fmt.Fprintf(j.p.Stderr, "jq: error (at %s): %s\n", j.in.position(), s)
		} else {
			fmt.Fprintf(j.p.Stderr, "jq: error (at %s) (not a string): %s\n", j.in.position(), e.Error())
		}
		return 5, false
	}
	if h, ok := errors.AsType[*interpreter.Halt](err); ok {
		_ = j.out.Flush()
		if !h.Quiet && h.Value != nil {
			_ = j.toStderr(h.Value)
			if _, isText := h.Value.(string); !isText {
				_, _ = io.WriteString(j.p.Stderr, "\n")
			}
		}
		return h.Status & 0xff, true
	}
	_ = j.out.Flush()
	if pe, ok := errors.AsType[*interpreter.ParseError](err); ok {
		fmt.Fprintf(j.p.Stderr, "jq: parse error: %s\n", pe.Text)
		return 2, true
	}
	if errors.Is(err, interpreter.ErrTooDeep) {
		fmt.Fprintf(j.p.Stderr, "jq: error (at %s): the functions of the filter call each other too deep\n", j.in.position())
		return 5, true
	}
	return j.end(err), true
}

// end returns the status of a process that has to end.
func (j *jqJob) end(err error) int {
	if shell.Strerror(err) == "Cannot allocate memory" {
		fmt.Fprint(j.p.Stderr, "jq: error: cannot allocate memory\n")
		return 2
	}
	return j.p.Status(err)
}

// write writes a result.
func (j *jqJob) write(v interpreter.Value) error {
	j.wroteAny, j.lastFalse = true, v == nil || v == false
	if j.seq {
		_ = j.out.WriteByte(0x1e)
	}
	s, isText := v.(string)
	switch {
	case isText && j.nul && strings.Contains(s, "\x00"):
		return &interpreter.Error{Value: "Cannot dump a string containing NUL with --raw-output0 option"}
	case isText && j.raw && !j.style.ASCII:
		_, _ = j.out.WriteString(s)
	case isText && j.raw:
		var b bytes.Buffer
		if err := j.encode(&b, j.style, s); err != nil {
			return err
		}
		_, _ = j.out.Write(jqUnescapeASCII(b.Bytes()))
	default:
		if err := j.encode(j.out, j.style, v); err != nil {
			return err
		}
	}
	switch {
	case j.nul:
		_ = j.out.WriteByte(0)
	case !j.join:
		_ = j.out.WriteByte('\n')
	}
	if err := j.p.Spend(1); err != nil {
		return err
	}
	if j.unbuffered {
		return j.out.Flush()
	}
	if j.out.HasFailed() {
		_, err := j.out.Write(nil)
		return err
	}
	return nil
}

// jqUnescapeASCII takes the quotes off a string that is written with -a and -r: only characters beyond ASCII stay escaped.
func jqUnescapeASCII(b []byte) []byte {
	var out []byte
	b = b[1 : len(b)-1]
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		if k := strings.IndexByte(`"\bfnrt`, b[i]); k >= 0 {
			out = append(out, "\"\\\b\f\n\r\t"[k])
			continue
		}
		out = append(out, '\\', b[i])
	}
	return out
}

// jqColors reads JQ_COLORS: colours with a colon between them; what is wrong leaves the defaults.
func jqColors(s string) *interpreter.Colors {
	c := interpreter.DefaultColors()
	fields := []*string{&c.Null, &c.False, &c.True, &c.Number, &c.String, &c.Array, &c.Object, &c.Key}
	if s == "" {
		return c
	}
	for i, part := range strings.SplitN(s, ":", len(fields)+1) {
		if strings.Trim(part, "0123456789;") != "" {
			return interpreter.DefaultColors()
		}
		if i < len(fields) {
			*fields[i] = part
		}
	}
	return c
}
