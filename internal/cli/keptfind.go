package cli

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newLifecycle makes a backend's sandboxes live on. Where they are pods this is the first thing that is done: this process
// may become another program, which begins anew.
func newLifecycle(backend string, h host, k hooks, l life) (persist.Lifecycle, error) {
	if backend == clusterBackend {
		return newKeptCluster(h, k, l)
	}
	d, err := keptDriver(backend, h)
	if err != nil {
		return nil, err
	}
	d.Idle, d.TTL, d.Warm = l.idle, l.ttl, l.warm
	return d, nil
}

// keptDriver makes a backend's sandboxes live on, with this program as their keeper.
func keptDriver(backend string, h host) (*persist.Driver, error) {
	inner, err := newDriver(backend, h, hooks{})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &persist.Driver{Inner: inner, Store: h.kept(), Keeper: []string{self, keeperCommand}, Env: h.env}, nil
}

// keptAt is what the flags say about where a sandbox is. Without any, what is known here says it.
type keptAt struct {
	backend string
	cluster clusterFlags
}

func (at *keptAt) register(fs *pflag.FlagSet) {
	fs.StringVar(&at.backend, "backend", "", "one of the backend `NAME`; with kube also pods that others made")
	addPlace(fs, &at.cluster)
}

// inCluster tells whether the flags name a cluster, where this machine need not know the sandbox.
func (at keptAt) inCluster() bool {
	return at.backend == clusterBackend || at.cluster.context != "" || at.cluster.namespace != ""
}

func (at keptAt) check() error {
	if at.inCluster() && at.backend != "" && at.backend != clusterBackend {
		return sandbox.Errorf(sandbox.Invalid, "--context and --namespace are for pods, and --backend is %s", at.backend)
	}
	return nil
}

// kept is a sandbox that lives on, and who keeps it.
type kept struct {
	persist.Lifecycle

	name string
	here persist.Record // what is known here; the zero value where flags name the cluster
}

// findKept finds who keeps a sandbox, and asks no cluster.
func (a *app) findKept(name string, at keptAt) (kept, error) {
	k := kept{name: name}
	h, err := a.keptHere()
	if err == nil {
		err = at.check()
	}
	if err != nil {
		return k, err
	}
	if at.inCluster() {
		k.Lifecycle, err = newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
		return k, err
	}
	if k.here, err = h.kept().Load(name); err != nil {
		return k, err
	}
	if b := k.here.Backend; at.backend != "" && at.backend != b {
		return k, sandbox.Errorf(sandbox.NotFound, "no sandbox %q of %s: it is one of %s", name, at.backend, b)
	}
	k.Lifecycle, err = whoKeeps(k.here, h)
	return k, err
}

// whoKeeps is where the sandbox of a record is.
func whoKeeps(r persist.Record, h host) (persist.Lifecycle, error) {
	at := placeOfRecord(r)
	return newLifecycle(at.backend, h, hooks{cluster: at.cluster}, life{})
}

func placeOfRecord(r persist.Record) keptAt {
	at := keptAt{backend: r.Backend}
	if r.Cluster != nil {
		at.cluster.context, at.cluster.namespace = r.Cluster.Context, r.Cluster.Namespace
	}
	return at
}

// keepers makes each Lifecycle once.
type keepers struct {
	host host
	made map[keptAt]persist.Lifecycle
}

func (k *keepers) of(r persist.Record) (persist.Lifecycle, error) {
	at := placeOfRecord(r)
	if d, ok := k.made[at]; ok {
		return d, nil
	}
	d, err := whoKeeps(r, k.host)
	if err == nil {
		if k.made == nil {
			k.made = map[keptAt]persist.Lifecycle{}
		}
		k.made[at] = d
	}
	return d, err
}

// keptRecords are those that are known here, of one backend when the flags name it, or all of the cluster that they name.
func (a *app) keptRecords(ctx context.Context, at keptAt) ([]persist.Record, error) {
	h, err := a.keptHere()
	if err == nil {
		err = at.check()
	}
	if err != nil {
		return nil, err
	}
	if at.inCluster() {
		d, err := newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
		if err != nil {
			return nil, err
		}
		return d.Records(ctx)
	}
	records, err := h.kept().List()
	return slices.DeleteFunc(records, func(r persist.Record) bool { return at.backend != "" && at.backend != r.Backend }), err
}

// errGone says that a cluster has no longer what is known of it here.
var errGone = errors.New("it was destroyed from elsewhere, or its time was over")

// record is what a sandbox was made from. errGone is in the error's chain when only our knowledge of it is left.
func (k kept) record(ctx context.Context) (persist.Record, error) {
	where := k.here.Cluster
	if k.here.Backend != "" && where == nil {
		return k.here, nil
	}
	r, err := k.Load(ctx, k.name)
	if where == nil {
		return r, err
	}
	another := err == nil && where.UID != "" && r.Cluster != nil && r.Cluster.UID != where.UID
	if another || sandbox.CodeOf(err) == sandbox.NotFound {
		return r, sandbox.Errorf(sandbox.NotFound, "sandbox %s is not in %s any more: %w", k.name, placeOf(where), errGone).
			WithHint("'agent-sandbox destroy %s' removes what is left of it here", k.name)
	}
	return r, err
}

// placeOf is a place in a cluster, for people.
func placeOf(c *persist.Cluster) string {
	text := "namespace " + c.Namespace
	if c.Context != "" {
		text += " of context " + c.Context
	}
	return text
}

// openKept opens a sandbox by its name. The caller detaches.
func (a *app) openKept(ctx context.Context, name string, at keptAt) (*sandbox.Sandbox, error) {
	k, err := a.findKept(name, at)
	if err != nil {
		return nil, err
	}
	if _, err := k.record(ctx); err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, k, name)
}

// reaching opens also what is stopped, for what needs no command.
type reaching struct{ persist.Lifecycle }

// Open is Reach.
func (r reaching) Open(ctx context.Context, name string) (sandbox.Instance, error) {
	return r.Reach(ctx, name)
}

// withKept calls do with a sandbox that runs or is stopped, and is neither more nor less afterwards.
func (a *app) withKept(ctx context.Context, name string, at keptAt,
	do func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error,
) (err error) {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	k, err := a.findKept(name, at)
	if err != nil {
		return err
	}
	record, err := k.record(ctx)
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

// eachOf finds what is to be done about each name before anything is done: finding out may make this process another program.
func eachOf(names []string, find func(name string) (act func() error, err error)) error {
	acts := make([]func() error, len(names))
	errs := make([]error, len(names))
	for i, name := range names {
		acts[i], errs[i] = find(name)
	}
	for i, act := range acts {
		if errs[i] == nil {
			errs[i] = act()
		}
	}
	return errors.Join(errs...)
}

// remember keeps here where a sandbox is, when a cluster keeps it. Of what it was made from this is only the workspace: the
// rest is the cluster's, and may be secret.
func (a *app) remember(ctx context.Context, h host, d persist.Lifecycle, name string) error {
	r, err := d.Load(ctx, name)
	if err != nil || r.Cluster == nil {
		return err
	}
	return h.kept().Add(persist.Record{
		ID: name, Name: r.Name, Backend: r.Backend, Created: r.Created, Cluster: r.Cluster,
		Spec: sandbox.Spec{Workspace: r.Spec.Workspace},
	})
}

// vacant makes sure that nothing is known here by a name. A pod that is gone is forgotten.
func (a *app) vacant(ctx context.Context, h host, name string) error {
	err := h.kept().Vacant(name)
	if err == nil {
		return nil
	}
	k, ferr := a.findKept(name, keptAt{})
	if ferr != nil || k.here.Cluster == nil {
		return err
	}
	if _, rerr := k.record(ctx); !errors.Is(rerr, errGone) {
		return err
	}
	return h.kept().Forget(ctx, name)
}

// forget removes what is known here of a sandbox of a cluster, if it is that one.
func (a *app) forget(ctx context.Context, h host, r persist.Record) error {
	if r.Cluster == nil {
		return nil
	}
	here, err := h.kept().Load(r.ID)
	if err != nil || here.Cluster == nil || here.Cluster.UID != r.Cluster.UID {
		return nil //nolint:nilerr // what is not known here needs not be forgotten
	}
	return h.kept().Forget(ctx, r.ID)
}

// keptAtOf is what the flags of a command say.
func keptAtOf(cmd *cobra.Command) keptAt {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return keptAt{value("backend"), clusterFlags{context: value("context"), namespace: value("namespace")}}
}

// keeperCommand is how this program is started as a sandbox's keeper.
const keeperCommand = "keep"
