package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

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

// check refuses what only pods have.
func (k *life) check(backend string) error {
	if backend == clusterBackend || k.storage == 0 && k.storageClass == "" {
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "--storage and --storage-class are for the volumes of pods").
		WithHint("--backend kube, or leave them out")
}
