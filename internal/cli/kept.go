package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newCreate(a *app) *cobra.Command {
	var f options
	var k life
	cmd := &cobra.Command{
		Use:   "create [flags] [NAME]",
		Short: "make a sandbox that lives on",
		Long: `The sandbox has this policy until it is destroyed, and its commands share what
is in its /tmp and what runs in the background. Without a NAME it gets one, which
is printed. One in a cluster (--backend kube) is everybody's who may use its
namespace, and works on a volume with a copy of the project; here is kept where it
is, so that the other commands find it by its name.`,
		Example: `agent-sandbox create work
agent-sandbox exec --in work -- npm install
agent-sandbox create --allow packages.example.com --idle 30m --ttl 8h
agent-sandbox create --backend kube --network --image node:22 --storage 20GiB web
agent-sandbox destroy work`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := nameOf(args)
			if err != nil {
				return err
			}
			if k.idle < 0 || k.ttl < 0 || k.warm < 0 {
				return usageError(cmd.CommandPath(), "--idle, --ttl and --warm are not negative")
			}
			f.cluster.storage, f.cluster.storageClass = k.storage, k.storageClass
			return a.create(cmd.Context(), &f, k, name)
		},
	}
	f.register(cmd.Flags())
	k.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

// life is how long a sandbox lives, and what is kept ready for the next one.
type life struct {
	stage     string
	idle, ttl time.Duration
	warm      int

	storage      sandbox.Bytes // 0: the backend's choice
	storageClass string
}

func (k *life) register(fs *pflag.FlagSet) {
	addStage(fs, &k.stage)
	fs.DurationVar(&k.idle, "idle", 0, "stop it when no command has run for `TIME`, such as 30m; 0: never")
	fs.DurationVar(&k.ttl, "ttl", 0, "destroy it when `TIME` has passed, but not while a command runs; 0: never")
	fs.IntVar(&k.warm, "warm", 0, "keep `N` more like it prepared, of which the next one like it is one (docker)")
	add(fs, "storage", "", "give its volume `SIZE`, of which it has 10GiB otherwise (kube)", func(s string) (err error) {
		k.storage, err = sandbox.ParseBytes(s)
		return err
	})
	fs.StringVar(&k.storageClass, "storage-class", "", "take its volume from the storage class `NAME` (kube)")
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError(cmd.CommandPath(), "%s takes one name, got %q", cmd.Name(), args[1])
	}
	return nil
}

func nameOf(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], persist.CheckName(args[0])
	}
	return persist.NewID()
}

func (a *app) create(ctx context.Context, f *options, k life, name string) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	h, err := locate(a.env, f.cwd)
	if err != nil {
		return err
	}
	spec, err := a.spec(h, f)
	if err != nil {
		return err
	}
	spec.Stage, spec.Name = k.stage, name
	backend := f.backend
	if backend == "" {
		backend = backendOf(spec.Layers)
	}
	if err := k.check(backend); err != nil {
		return err
	}
	use := hooks{cluster: f.cluster}
	if f.debug {
		use.trace = a.err.debug
	}
	d, err := newLifecycle(backend, h, use, k)
	if err == nil {
		err = a.vacant(ctx, h, name)
	}
	if err != nil {
		return err
	}
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return a.unavailable(ctx, d, err)
	}
	if err != nil {
		return err
	}
	if err := a.remember(ctx, h, d, name); err != nil {
		return errors.Join(err, box.Close(context.WithoutCancel(ctx)))
	}
	fmt.Fprintln(a.out, name)
	return box.Detach()
}

// check refuses what only pods have.
func (k *life) check(backend string) error {
	if backend == clusterBackend || k.storage == 0 && k.storageClass == "" {
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "--storage and --storage-class are for the volumes of pods").
		WithHint("--backend kube, or leave them out")
}

// completeKept offers the names of sandboxes that are known here, or of those in the cluster that the flags name.
func (a *app) completeKept(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	records, _ := a.keptRecords(ctx, keptAtOf(cmd)) // those that can be read
	var names []string
	for _, r := range records {
		names = append(names, r.ID)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func newDestroy(a *app) *cobra.Command {
	var at keptAt
	var forget bool
	cmd := &cobra.Command{
		Use:   "destroy [flags] NAME...",
		Short: "end sandboxes for good",
		Long: `Their workspaces and stages stay as they are; their snapshots go, and the volumes of
pods. --forget is for pods in a cluster that is no more.`,
		Example:           "agent-sandbox destroy work\nagent-sandbox destroy --backend kube --namespace agents web",
		ValidArgsFunction: a.completeKept,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(cmd.CommandPath(), "no sandbox was named")
			}
			if forget && at != (keptAt{}) {
				return usageError(cmd.CommandPath(), "--forget is about what is known here, and takes no flags beside it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			relay, ctx := startRelay(cmd.Context(), false, a.err.say)
			defer relay.stop()
			return eachOf(args, func(name string) (func() error, error) {
				if forget {
					return a.forgetting(ctx, name)
				}
				return a.destroying(ctx, name, at)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&forget, "forget", false, "only forget here where the pod is; nobody is asked")
	return describe(cmd, exitSimple)
}

// destroying is how a sandbox is destroyed. One whose record cannot be read is removed, too, but not what only its backend
// could find then.
func (a *app) destroying(ctx context.Context, name string, at keptAt) (func() error, error) {
	h, err := a.keptHere()
	if err != nil {
		return nil, err
	}
	if !at.inCluster() {
		if _, err := h.kept().Load(name); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			d, err := keptDriver("", h)
			return func() error { return d.Destroy(ctx, name) }, err
		}
	}
	k, err := a.findKept(name, at)
	if err != nil {
		return nil, err
	}
	return func() error { return a.destroyKept(ctx, h, k) }, nil
}

func (a *app) destroyKept(ctx context.Context, h host, k kept) error {
	record, err := k.record(ctx)
	if errors.Is(err, errGone) {
		return h.kept().Forget(ctx, k.name)
	}
	if err == nil {
		err = k.Destroy(ctx, k.name)
	}
	if err != nil {
		return err
	}
	return a.forget(ctx, h, record)
}

func (a *app) forgetting(ctx context.Context, name string) (func() error, error) {
	h, err := a.keptHere()
	if err != nil {
		return nil, err
	}
	record, err := h.kept().Load(name)
	if err == nil && record.Cluster == nil {
		err = sandbox.Errorf(sandbox.Invalid, "sandbox %s is no pod, and nowhere but here", name).WithHint("'agent-sandbox destroy %s' ends it", name)
	}
	return func() error { return h.kept().Forget(ctx, name) }, err
}

func newPrune(a *app) *cobra.Command {
	var at keptAt
	var expired bool
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "destroy the sandboxes that are stopped or were prepared by --warm",
		Long: `Of pods those that this machine knows, and it forgets those that are gone. With
--backend kube all of the namespace, whoever made them.`,
		Example: "agent-sandbox prune\nagent-sandbox prune --expired --backend kube --namespace agents",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			relay, ctx := startRelay(cmd.Context(), false, a.err.say)
			defer relay.stop()
			return a.prune(ctx, at, expired)
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&expired, "expired", false, "remove only what is over by its --ttl, and what killed processes\nhave left; what is stopped stays")
	return describe(cmd, exitSimple)
}

func (a *app) prune(ctx context.Context, at keptAt, expired bool) error {
	h, err := a.keptHere()
	if err == nil {
		err = at.check()
	}
	switch {
	case err != nil:
		return err
	case expired:
		return sweepKept(ctx, h, at)
	case at.inCluster():
		return a.pruneCluster(ctx, h, at)
	}
	records, err := h.kept().List()
	spares, serr := h.kept().Spares()
	errs := []error{err, serr}
	var pods []kept
	local := map[string]persist.Lifecycle{}
	who := keepers{host: h}
	for _, r := range append(records, spares...) {
		d, err := who.of(r)
		switch {
		case at.backend != "" && r.Backend != at.backend:
		case err != nil:
			errs = append(errs, err)
		case r.Cluster != nil:
			pods = append(pods, kept{Lifecycle: d, name: r.ID, here: r})
		default:
			local[r.Backend] = d
		}
	}
	for _, backend := range sortedKeys(local) {
		names, err := local[backend].Prune(ctx)
		a.printNames(names)
		errs = append(errs, err)
	}
	for _, k := range pods {
		errs = append(errs, a.prunePod(ctx, h, k))
	}
	return errors.Join(errs...)
}

// sweepKept removes what is over, in the cluster that the flags name or wherever sandboxes are that are known here.
func sweepKept(ctx context.Context, h host, at keptAt) error {
	if at.inCluster() {
		d, err := newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
		if err != nil {
			return err
		}
		return d.Sweep(ctx)
	}
	records, err := h.kept().List()
	errs := []error{err}
	who := keepers{host: h}
	for _, r := range records {
		if at.backend == "" || r.Backend == at.backend {
			_, err := who.of(r)
			errs = append(errs, err)
		}
	}
	for _, d := range who.made {
		errs = append(errs, d.Sweep(ctx))
	}
	return errors.Join(errs...)
}

// prunePod destroys a pod that is stopped, and forgets one that is gone.
func (a *app) prunePod(ctx context.Context, h host, k kept) error {
	_, err := k.record(ctx)
	if err == nil {
		var st persist.State
		if st, err = k.State(ctx, k.name); err != nil || st.Running {
			return err
		}
	}
	if err == nil || errors.Is(err, errGone) {
		if err = a.destroyKept(ctx, h, k); err == nil {
			a.printNames([]string{k.name})
		}
	}
	return err
}

// pruneCluster is for all of a namespace.
func (a *app) pruneCluster(ctx context.Context, h host, at keptAt) error {
	d, err := newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
	if err != nil {
		return err
	}
	records, err := d.Records(ctx)
	if err != nil {
		return err
	}
	names, err := d.Prune(ctx)
	a.printNames(names)
	for _, r := range records {
		if slices.Contains(names, r.ID) {
			err = errors.Join(err, a.forget(ctx, h, r))
		}
	}
	return err
}

func (a *app) printNames(names []string) {
	for _, name := range names {
		fmt.Fprintln(a.out, name)
	}
}
