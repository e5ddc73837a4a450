package jq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/jq/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func yqCommand() program.Description {
	return program.Description{
		Name: "yq", Usage: "[eval] [OPTION]... [EXPRESSION] [FILE]...",
		Summary: "apply EXPRESSION to YAML or JSON documents",
		Help: `The expression is jq's language; besides, env(NAME) and strenv(NAME) are variables of the
environment. Comments and styles are kept where a value stays in its place. With no FILE, or
when FILE is -, read standard input.

  -i, --inplace                 write the first FILE anew
  -o, --output-format=FORMAT    yaml (y) or json (j)
  -p, --input-format=FORMAT     yaml (y) or json (j)
  -r, --unwrapScalar            write strings without quotes; so it is for YAML
  -n, --null-input              take null as the only input
  -e, --exit-status             exit with 1 when there is no result, or the last is null or false
  -I, --indent=N                indent with N spaces
  -N, --no-doc                  write no --- between documents
  -M, --no-colors               does nothing
  -h, --help                    show this help and exit
  -V, --version                 show the version and exit`,
		Run: runYQ,
	}
}

var yqOptions = []getopt.Option{
	{Short: 'i', Long: "inplace"},
	{Short: 'o', Long: "output-format", Arg: getopt.Required},
	{Short: 'p', Long: "input-format", Arg: getopt.Required},
	{Short: 'r', Long: "unwrapScalar"},
	{Short: 'n', Long: "null-input"},
	{Short: 'e', Long: "exit-status"},
	{Short: 'I', Long: "indent", Arg: getopt.Required},
	{Short: 'N', Long: "no-doc"},
	{Short: 'M', Long: "no-colors"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// yqJob holds the parsed command line of yq.
type yqJob struct {
	p      *shell.Proc
	out    bytes.Buffer
	memory program.MemoryGuard

	inplace, raw, null, exitStatus, noDoc, jsonIn bool
	outFormat                                     string
	indent                                        int
	written                                       int
	last                                          interpreter.Value
}

func runYQ(p *shell.Proc) int {
	j := &yqJob{p: p, indent: 2, memory: program.MemoryGuard{P: p}}
	defer j.memory.Close()
	o := program.NewOptions(p, yqCommand, yqOptions)
	for o.Next() {
		if err := j.option(o); err != nil {
			return j.fail(err)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(args) > 0 && (args[0] == "eval" || args[0] == "e") {
		args = args[1:]
	} else if len(args) > 0 && (args[0] == "eval-all" || args[0] == "ea") {
		return j.fail(errors.New("eval-all is not supported; use eval"))
	}
	expression := "."
	if len(args) == 1 && !j.null {
		// A single argument may be a file.
		if info, err := p.Stat(args[0]); err == nil && info.Mode.IsRegular() {
			args = append([]string{"."}, args...)
		}
	}
	if len(args) > 0 {
		expression, args = args[0], args[1:]
	}
	return j.run(expression, args)
}

func (j *yqJob) option(o *program.Options) error {
	value := strings.TrimPrefix(o.Value, "=") // "-o=json" is as good as "-o json".
	switch o.ID {
	case 'i':
		j.inplace = true
	case 'o', 'p':
		switch value {
		case "yaml", "y", "json", "j":
		default:
			return fmt.Errorf("unknown format '%s' please use [yaml|json]", value)
		}
		if o.ID == 'o' {
			j.outFormat = value[:1]
		} else {
			j.jsonIn = value[:1] == "j"
		}
	case 'r':
		j.raw = true
	case 'n':
		j.null = true
	case 'e':
		j.exitStatus = true
	case 'I':
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 64 {
			return fmt.Errorf("invalid argument %q for \"-I, --indent\" flag", value)
		}
		j.indent = n
	case 'N':
		j.noDoc = true
	}
	return nil
}

// fail reports an error as yq does, or ends with the process.
func (j *yqJob) fail(err error) int {
	if errors.Is(err, shell.ErrFuel) || j.p.Context().Err() != nil {
		return j.p.Status(err)
	}
	_, _ = io.WriteString(j.p.Stderr, "Error: "+err.Error()+"\n")
	return 1
}

func (j *yqJob) run(expression string, files []string) int {
	filter, err := interpreter.Compile(yqExpression(expression), interpreter.Options{
		Names: nil, Environ: j.p.Environ(), Now: j.p.Now, Zone: program.Zone(j.p), Spend: j.p.Spend, Hold: j.memory.Take,
		Debug: func(interpreter.Value) {}, Stderr: func(interpreter.Value) {},
	})
	if err != nil {
		return j.fail(err)
	}
	if j.inplace && (len(files) == 0 || files[0] == "-") {
		return j.fail(errors.New("write in place flag only applicable when giving an expression and at least one file"))
	}
	if j.null {
		err = j.apply(filter, nil)
	}
	for _, name := range program.FilesOrStdin(files) {
		if err != nil || j.null {
			break
		}
		err = j.file(filter, name)
	}
	if err != nil {
		_, _ = j.p.Stdout.Write(j.out.Bytes())
		return j.fail(err)
	}
	return j.finish(files)
}

func (j *yqJob) finish(files []string) int {
	var err error
	if j.inplace {
		err = j.replace(files[0])
	} else if _, e := j.p.Stdout.Write(j.out.Bytes()); e != nil {
		return j.p.WriteFailed(e)
	}
	if err != nil {
		return j.fail(err)
	}
	if j.exitStatus && (j.written == 0 || j.last == nil || j.last == false) {
		return j.fail(errors.New("no matches found"))
	}
	return 0
}

func (j *yqJob) replace(name string) error {
	f, err := j.p.Create(name)
	if err != nil {
		return fmt.Errorf("open %s: %s", name, strings.ToLower(shell.Strerror(err)))
	}
	_, err = f.Write(j.out.Bytes())
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// yqMost bounds a document.
const yqMost = 64 << 20

func (j *yqJob) file(filter *interpreter.Program, name string) error {
	in, err := program.OpenInput(j.p, name)
	if err != nil {
		return fmt.Errorf("open %s: %s", name, strings.ToLower(shell.Strerror(err)))
	}
	defer in.Close()
	if j.outFormat == "" && strings.HasSuffix(name, ".json") {
		j.outFormat = "j"
	}
	text, err := program.ReadWhole(j.p, io.LimitReader(in, yqMost+1))
	if err != nil {
		return err
	}
	if len(text) > yqMost {
		return errors.New("input is too large")
	}
	if err := j.p.Spend(len(text) >> 4); err != nil {
		return err
	}
	// The decoder reads a document as a whole.
	if err := j.memory.Take(yamlNodes(text) * yamlNode); err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("bad file '%s': %w", name, err)
		}
		if err := j.apply(filter, &n); err != nil {
			return err
		}
	}
}

// yamlNode is about what the decoder takes for a node, in bytes.
const yamlNode = 256

// yamlNodes bounds the number of nodes in a text: each but the first comes after a byte that begins one.
func yamlNodes(text []byte) int {
	n := 1
	for _, c := range text {
		switch c {
		case '\n', ':', ',', '[', '{', '-', '?':
			n++
		}
	}
	return n
}

// apply runs the filter on a document and writes what it gives.
func (j *yqJob) apply(filter *interpreter.Program, n *yaml.Node) error {
	var v interpreter.Value
	if n != nil {
		var err error
		if v, err = j.value(n, 0); err != nil {
			return err
		}
	}
	first := true
	return filter.Run(v, func(r interpreter.Value) error {
		j.last = r
		if !first || j.jsonIn { // Only the first result has the comments and the style of the document.
			n = nil
		}
		separate := first && j.written > 0 && !j.noDoc && j.outFormat != "j"
		first = false
		j.written++
		return j.write(r, n, separate)
	})
}

func (j *yqJob) write(v interpreter.Value, old *yaml.Node, separate bool) error {
	before := j.out.Len()
	if separate {
		j.out.WriteString("---\n")
	}
	text, isText := v.(string)
	switch {
	case j.outFormat == "j" && isText && j.raw, j.outFormat != "j" && isText:
		j.out.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	case j.outFormat == "j":
		err := interpreter.Style{Indent: j.indent}.Encode(v, func(text []byte) ([]byte, error) {
			if err := j.p.Spend(len(text)>>6 + 1); err != nil {
				return nil, err
			}
			j.out.Write(text)
			err := j.memory.Take(len(text))
			return text[:0], err
		})
		if err != nil {
			return err
		}
		j.out.WriteByte('\n')
		return nil
	default:
		n, err := j.node(v, old, 0)
		if err != nil {
			return err
		}
		if old != nil && old.Kind == yaml.DocumentNode {
			n = &yaml.Node{Kind: yaml.DocumentNode, HeadComment: old.HeadComment, FootComment: old.FootComment, Content: []*yaml.Node{n}}
		}
		e := yaml.NewEncoder(&j.out)
		e.SetIndent(max(j.indent, 1))
		if err := e.Encode(n); err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
	}
	return j.memory.Take(j.out.Len() - before)
}
