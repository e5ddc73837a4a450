// Package inventory finds persistent sandboxes: those of this user on this host, and pods of a cluster.
package inventory

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewLifecycle returns the lifecycle of a backend's persistent sandboxes. Its error may ask for another program, so callers
// call it before they change or print anything.
func NewLifecycle(backend string, h host.Host, k host.DriverOptions, l Lifetime) (persist.Lifecycle, error) {
	if backend == host.Kube {
		return newPodLifecycle(h, k, l)
	}
	d, err := NewDriver(backend, h)
	if err != nil {
		return nil, err
	}
	d.Idle, d.TTL, d.Warm = l.Idle, l.TTL, l.Warm
	return d, nil
}

// NewDriver returns the driver of a backend's persistent sandboxes, with this program as their keeper.
func NewDriver(backend string, h host.Host) (*persist.Driver, error) {
	inner, err := host.NewDriver(backend, h, host.DriverOptions{})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &persist.Driver{
		Inner: inner, Store: h.Sandboxes(), Keeper: []string{self, KeeperCommand}, Env: h.Env, AdaptFork: proxy.Republish,
	}, nil
}

// Place holds the flags that select where a sandbox is. Without any, the local record decides.
type Place struct {
	Backend string
	Cluster host.Cluster
}

// Register adds the flags of p to fs.
func (at *Place) Register(fs *pflag.FlagSet) {
	fs.StringVar(&at.Backend, "backend", "", "find it at the backend `NAME`; with kube also pods of other users")
	host.AddPlaceFlags(fs, &at.Cluster)
}

// IsInCluster reports whether the flags name a cluster, in which case no local record is needed.
func (at Place) IsInCluster() bool {
	return at.Backend == host.Kube || at.Cluster.Context != "" || at.Cluster.Namespace != ""
}

// Check rejects flags that contradict each other.
func (at Place) Check() error {
	if at.IsInCluster() && at.Backend != "" && at.Backend != host.Kube {
		return sandbox.Errorf(sandbox.Invalid, "--context and --namespace are for pods, and --backend is %s", at.Backend)
	}
	return nil
}

// Sandbox is a persistent sandbox, and the lifecycle that finds it.
type Sandbox struct {
	persist.Lifecycle

	ID    string
	Known persist.Record // the local record; the zero value if flags name the cluster
}

// Find finds the lifecycle of a sandbox without contacting a cluster.
func Find(a *console.App, name string, at Place) (Sandbox, error) {
	k := Sandbox{ID: name}
	h, err := host.LocateHome(a)
	if err == nil {
		err = at.Check()
	}
	if err != nil {
		return k, err
	}
	if at.IsInCluster() {
		k.Lifecycle, err = NewLifecycle(host.Kube, h, host.DriverOptions{Cluster: at.Cluster}, Lifetime{})
		return k, err
	}
	if k.Known, err = h.Sandboxes().Load(name); err != nil {
		return k, err
	}
	if b := k.Known.Backend; at.Backend != "" && at.Backend != b {
		return k, sandbox.Errorf(sandbox.NotFound, "no sandbox %q of %s: it is one of %s", name, at.Backend, b)
	}
	k.Lifecycle, err = LifecycleOf(k.Known, h)
	return k, err
}

// Subdirectory returns the directory inside that is the working directory of this process, "" if that is not below the
// workspace, or if the sandbox has a copy of the workspace or begins in another directory.
func (k Sandbox) Subdirectory() string {
	spec := k.Known.Spec
	shows := k.Known.Backend == host.Default || k.Known.Backend == host.Docker
	if !shows || spec.Workspace == "" || spec.Dir != "" {
		return ""
	}
	wd, err := host.WorkDir("")
	if err != nil {
		return "" // the command does not need it
	}
	rest, below := strings.CutPrefix(wd, strings.TrimSuffix(spec.Workspace, "/")+"/")
	if !below {
		return ""
	}
	return filepath.Join(cmp.Or(spec.Target, spec.Workspace), rest)
}

// LifecycleOf returns the lifecycle for a record's backend and place.
func LifecycleOf(r persist.Record, h host.Host) (persist.Lifecycle, error) {
	at := placeOfRecord(r)
	return NewLifecycle(at.Backend, h, host.DriverOptions{Cluster: at.Cluster}, Lifetime{})
}

func placeOfRecord(r persist.Record) Place {
	at := Place{Backend: r.Backend}
	if r.Cluster != nil {
		at.Cluster.Context, at.Cluster.Namespace = r.Cluster.Context, r.Cluster.Namespace
	}
	return at
}

// Lifecycles caches each Lifecycle.
type Lifecycles struct {
	Host host.Host
	Made map[Place]persist.Lifecycle
}

// Of returns the lifecycle of the sandbox of a record.
func (k *Lifecycles) Of(r persist.Record) (persist.Lifecycle, error) {
	at := placeOfRecord(r)
	if d, ok := k.Made[at]; ok {
		return d, nil
	}
	d, err := LifecycleOf(r, k.Host)
	if err == nil {
		if k.Made == nil {
			k.Made = map[Place]persist.Lifecycle{}
		}
		k.Made[at] = d
	}
	return d, err
}

// Require returns an error that asks for another program if the sandboxes of some records need one. Other errors appear when
// the sandboxes are used.
func (k *Lifecycles) Require(records ...[]persist.Record) error {
	for _, r := range slices.Concat(records...) {
		if _, err := k.Of(r); program.RequiredBy(err) != "" {
			return err
		}
	}
	return nil
}

// Records returns the local records, only of one backend if the flags name it, or those of the cluster that the flags name.
func Records(ctx context.Context, a *console.App, at Place) ([]persist.Record, error) {
	h, err := host.LocateHome(a)
	if err == nil {
		err = at.Check()
	}
	if err != nil {
		return nil, err
	}
	if at.IsInCluster() {
		d, err := NewLifecycle(host.Kube, h, host.DriverOptions{Cluster: at.Cluster}, Lifetime{})
		if err != nil {
			return nil, err
		}
		return d.Records(ctx)
	}
	records, err := h.Sandboxes().List()
	return slices.DeleteFunc(records, func(r persist.Record) bool { return at.Backend != "" && at.Backend != r.Backend }), err
}

// ErrGone means that the cluster no longer has a sandbox with a local record.
var ErrGone = errors.New("it was destroyed from elsewhere, or its time was over")

// Record returns the description from which a sandbox was created. errGone is in the error's chain if only the local record is left.
func (k Sandbox) Record(ctx context.Context) (persist.Record, error) {
	where := k.Known.Cluster
	if k.Known.Backend != "" && where == nil {
		return k.Known, nil
	}
	r, err := k.Load(ctx, k.ID)
	if where == nil {
		return r, err
	}
	another := err == nil && where.UID != "" && r.Cluster != nil && r.Cluster.UID != where.UID
	if another || sandbox.CodeOf(err) == sandbox.NotFound {
		return r, sandbox.Errorf(sandbox.NotFound, "sandbox %s is not in %s any more: %w", k.ID, placeText(where), ErrGone).
			WithHint("'agent-sandbox destroy %s' removes its record on this host", k.ID)
	}
	return r, err
}

// placeText describes a place in a cluster for people.
func placeText(c *persist.Cluster) string {
	text := "namespace " + c.Namespace
	if c.Context != "" {
		text += " of context " + c.Context
	}
	return text
}

// Open opens a sandbox by its name. The caller detaches.
func Open(ctx context.Context, a *console.App, name string, at Place) (*sandbox.Sandbox, error) {
	k, err := Find(a, name, at)
	if err != nil {
		return nil, err
	}
	if _, err := k.Record(ctx); err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, k, name)
}

// reaching also opens a stopped sandbox, for operations that run no command.
type reaching struct{ persist.Lifecycle }

// Open calls Reach.
func (r reaching) Open(ctx context.Context, name string) (sandbox.Instance, error) {
	return r.Reach(ctx, name)
}

// Use calls do with a sandbox and leaves it running or stopped, as it was.
func Use(ctx context.Context, a *console.App, name string, at Place,
	do func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error,
) (err error) {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	k, err := Find(a, name, at)
	if err != nil {
		return err
	}
	record, err := k.Record(ctx)
	if err != nil {
		return err
	}
	box, err := sandbox.Open(ctx, reaching{k}, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	return do(ctx, record, box)
}

// ForEach prepares the action for each name before it performs any, because preparing may require another program.
func ForEach(names []string, find func(name string) (act func() error, err error)) error {
	acts := make([]func() error, len(names))
	errs := make([]error, len(names))
	for i, name := range names {
		acts[i], errs[i] = find(name)
		if program.RequiredBy(errs[i]) != "" {
			return errs[i]
		}
	}
	for i, act := range acts {
		if errs[i] == nil {
			errs[i] = act()
		}
	}
	return errors.Join(errs...)
}

// Remember records locally the place of a cluster's sandbox. Of its description it records only the workspace: the
// cluster keeps the rest, which may be secret.
func Remember(ctx context.Context, a *console.App, h host.Host, d persist.Lifecycle, name string) error {
	r, err := d.Load(ctx, name)
	if err != nil || r.Cluster == nil {
		return err
	}
	return h.Sandboxes().Add(persist.Record{
		ID: name, Name: r.Name, Backend: r.Backend, Created: r.Created, Cluster: r.Cluster,
		Spec: sandbox.Spec{Workspace: r.Spec.Workspace},
	})
}

// CheckVacant checks that no local record has a name. It forgets a pod that is gone.
func CheckVacant(ctx context.Context, a *console.App, h host.Host, name string) error {
	err := h.Sandboxes().Vacant(name)
	if err == nil {
		return nil
	}
	k, ferr := Find(a, name, Place{})
	if ferr != nil || k.Known.Cluster == nil {
		return err
	}
	if _, rerr := k.Record(ctx); !errors.Is(rerr, ErrGone) {
		return err
	}
	return h.Sandboxes().Forget(ctx, name)
}

// Forget removes the local record of a cluster's sandbox, if it is still of that sandbox.
func Forget(ctx context.Context, a *console.App, h host.Host, r persist.Record) error {
	if r.Cluster == nil {
		return nil
	}
	here, err := h.Sandboxes().Load(r.ID)
	if err != nil || here.Cluster == nil || here.Cluster.UID != r.Cluster.UID {
		return nil //nolint:nilerr // what is not known here needs not be forgotten
	}
	return h.Sandboxes().Forget(ctx, r.ID)
}

// PlaceOf returns the place that the flags of a command select.
func PlaceOf(cmd *cobra.Command) Place {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return Place{value("backend"), host.Cluster{Context: value("context"), Namespace: value("namespace")}}
}

// KeeperCommand returns the command that starts this program as a sandbox's keeper.
const KeeperCommand = "keep"
