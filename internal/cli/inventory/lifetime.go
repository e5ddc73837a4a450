package inventory

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Lifetime holds flags for how long a sandbox lives and what is prepared for the next one.
type Lifetime struct {
	Stage     string
	Idle, TTL time.Duration
	Warm      int

	Storage      sandbox.Bytes // 0: the backend's choice
	StorageClass string
}

// Register adds the flags of k to fs.
func (k *Lifetime) Register(fs *pflag.FlagSet) {
	host.AddStageFlag(fs, &k.Stage)
	fs.DurationVar(&k.Idle, "idle", 0, "stop it when no command has run for `TIME`, such as 30m; 0: never")
	fs.DurationVar(&k.TTL, "ttl", 0, "destroy it when `TIME` has passed, but not while a command runs; 0: never")
	fs.IntVar(&k.Warm, "warm", 0, "keep `N` more like it prepared, of which the next one like it is one (docker)")
	console.AddFlag(fs, "storage", "", "give its volume `SIZE`, of which it has 10GiB otherwise (kube)", func(s string) (err error) {
		k.Storage, err = sandbox.ParseBytes(s)
		return err
	})
	fs.StringVar(&k.StorageClass, "storage-class", "", "take its volume from the storage class `NAME` (kube)")
}

// Check rejects flags that only pods support.
func (k *Lifetime) Check(backend string) error {
	if backend == host.Kube || k.Storage == 0 && k.StorageClass == "" {
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "--storage and --storage-class are for the volumes of pods").
		WithHint("--backend kube, or leave them out")
}
