// Package files has the commands put and get, which copy files into and out of persistent sandboxes.
package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewPut returns the command put.
func NewPut(a *console.App) *cobra.Command {
	var at inventory.Place
	var limit console.Timeout
	cmd := &cobra.Command{
		Use:   "put [flags] HOSTPATH|- NAME:PATH",
		Short: "copy a file or directory into a sandbox",
		Long: `Copies into PATH if it is a directory, and to the name PATH otherwise; without PATH, into
the sandbox's working directory. HOSTPATH/. means the content of HOSTPATH. Symbolic links
are copied as links. - is standard input: a tar archive is extracted into PATH, anything
else becomes the file PATH.`,
		Example:           "agent-sandbox put data.csv work:/tmp\nagent-sandbox put src/. work:/tmp/src",
		ValidArgsFunction: completePlace(a, 1),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := splitPlace(cmd, args[1])
			if err != nil {
				return err
			}
			return limit.Run(cmd.Context(), func(ctx context.Context) error {
				return withSandbox(ctx, a, name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
					if args[0] == "-" {
						return transfer.PutStream(ctx, box, a.Stdio.Stdin, inside)
					}
					return transfer.In(ctx, box, args[0], inside, writableBy(a, name, at))
				})
			})
		},
	}
	at.Register(cmd.Flags())
	limit.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitLimited)
}

// NewGet returns the command get.
func NewGet(a *console.App) *cobra.Command {
	var at inventory.Place
	var limit console.Timeout
	var size string
	var asJSON bool
	l := transfer.Limits{Entries: transfer.DefaultEntries}
	cmd := &cobra.Command{
		Use:   "get [flags] NAME:PATH HOSTPATH|-",
		Short: "copy a file or directory out of a sandbox",
		Long: `Copies into HOSTPATH if it is a directory, and to the name HOSTPATH otherwise; PATH/.
means the content of PATH. Nothing is written anywhere else: links out of the copied
tree, devices and pipes are left out and listed. With - a tar archive goes to
standard output. A warning names files that programs on the host run or obey,
such as git hooks and .envrc: read them before you use them.`,
		Example:           "agent-sandbox get work:/tmp/result.json .\nagent-sandbox get work:src/. src",
		ValidArgsFunction: completePlace(a, 0),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := splitPlace(cmd, args[0])
			if err != nil {
				return err
			}
			bytes, err := sandbox.ParseBytes(size)
			if err != nil || l.Entries < 1 {
				return console.UsageError(cmd.CommandPath(), "--max-size is a size such as 10GiB, and --max-entries at least 1")
			}
			if asJSON && args[1] == "-" {
				return console.UsageError(cmd.CommandPath(), "--json does not go with -: both use standard output")
			}
			l.Bytes = int64(bytes)
			return limit.Run(cmd.Context(), func(ctx context.Context) error {
				return withSandbox(ctx, a, name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
					return fetchFiles(ctx, a, box, inside, args[1], asJSON, transfer.OutOptions{Limits: l, Writable: writableBy(a, name, at)})
				})
			})
		},
	}
	at.Register(cmd.Flags())
	limit.Register(cmd.Flags())
	cmd.Flags().StringVar(&size, "max-size", "64GiB", "fail when it is more than `SIZE`")
	cmd.Flags().Int64Var(&l.Entries, "max-entries", l.Entries, "fail when it is more than `N` files and directories")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitLimited)
}

// maxObeyed is the number of obeyed files that get lists: a sandbox can have any number of them.
const maxObeyed = 20

// copied is the document that get --json prints.
type copied struct {
	Obeyed  []string `json:"obeyed"`                // files that programs on the host run or obey, at most 20
	More    int      `json:"obeyed_more,omitempty"` // number of further ones
	LeftOut []string `json:"left_out"`              // links out of the tree, and what is neither a file, a directory nor a link
}

// note adds a created file if programs on the host obey it.
func (c *copied) note(path string) {
	switch {
	case !policy.IsObeyed(path):
	case len(c.Obeyed) < maxObeyed:
		c.Obeyed = append(c.Obeyed, path)
	default:
		c.More++
	}
}

// warn lists the files that programs on the host obey.
func (c *copied) warn(p *console.Printer) {
	if len(c.Obeyed) == 0 {
		return
	}
	p.Say("programs on the host run or obey these files; read them before you use them:")
	for _, path := range c.Obeyed {
		p.Line("  " + path)
	}
	if c.More > 0 {
		p.Line(fmt.Sprintf("  and %d more", c.More))
	}
}

func fetchFiles(ctx context.Context, a *console.App, box *sandbox.Sandbox, inside, dest string, asJSON bool, o transfer.OutOptions) error {
	doc := copied{Obeyed: []string{}, LeftOut: []string{}}
	o.Created = doc.note
	var left []string
	var err error
	if dest == "-" {
		left, err = transfer.GetTar(ctx, box, inside, a.Stdio.Stdout, o)
	} else {
		left, err = transfer.Out(ctx, box, inside, dest, o)
	}
	doc.LeftOut = append(doc.LeftOut, left...)
	doc.warn(a.Err) // also after an error: some files may be there
	if sandbox.CodeOf(err) == sandbox.Exhausted && errors.Is(err, transfer.ErrTooBig) {
		return sandbox.Errorf(sandbox.Exhausted, "%w", err).WithHint("--max-size and --max-entries allow more")
	}
	if err == nil && asJSON {
		err = a.PrintJSON(doc)
	}
	if err == nil && len(left) > 0 {
		return sandbox.Errorf(sandbox.Denied, "left out, because they are links out of the tree, or neither files, directories nor links: %q", left)
	}
	return err
}

// writableBy returns where commands of a persistent sandbox, and of one in the current directory, can create files.
func writableBy(a *console.App, name string, at inventory.Place) hostfile.Writable {
	here := host.WritableHere(a)
	found, err := inventory.Find(a, name, at)
	if err != nil || found.Known.Spec.Workspace == "" {
		return here // a pod without a local record has no directory of this host
	}
	configured, _ := host.WritableIn(found.Known.Spec) // the workspace counts in any case
	return here.Or(hostfile.Below(found.Known.Spec.Workspace)).Or(configured)
}

func twoPlaces(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return console.UsageError(cmd.CommandPath(), "%s takes two names", cmd.Name())
	}
	return nil
}

// splitPlace splits NAME:PATH. Without a path it is the working directory of commands.
func splitPlace(cmd *cobra.Command, arg string) (name, inside string, err error) {
	name, inside, ok := strings.Cut(arg, ":")
	if !ok || name == "" {
		return "", "", console.UsageError(cmd.CommandPath(), "%q is not NAME:PATH", arg)
	}
	return name, cmp.Or(inside, "."), nil
}

// withSandbox calls do with a persistent sandbox.
func withSandbox(ctx context.Context, a *console.App, name string, at inventory.Place, do func(context.Context, *sandbox.Sandbox) error) (err error) {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	box, err := inventory.Open(ctx, a, name, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	return do(ctx, box)
}

// completePlace completes NAME: as the nth argument, and files of the host as the other.
func completePlace(a *console.App, nth int) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != nth {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names := inventory.Names(a, cmd)
		for i := range names {
			names[i] += ":"
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
