package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func listenCases() []Case {
	return []Case{
		{Name: "a service of this process is reached from inside", Run: reachesUs},
	}
}

// bridge is the guest's program that carries its standard streams to a service.
const bridge = "/run/agent-sandbox/agent-sandbox bridge "

// reachesUs passes, too, when the backend reports that it has no listeners inside.
func reachesUs(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, address := range []string{"unix:/tmp/service-of-the-host", "127.0.0.1:47113"} {
			if err := b.reaches(ctx, address); err != nil {
				return fmt.Errorf("%s: %w", address, err)
			}
		}
		return nil
	})
}

func (b box) reaches(ctx context.Context, address string) (err error) {
	l, err := b.Listen(ctx, address)
	if errors.Is(err, errors.ErrUnsupported) {
		return hasCode(err, sandbox.Unsupported)
	}
	if err != nil {
		return err
	}
	var served sync.WaitGroup
	served.Go(func() { upper(l, &served) })
	defer served.Wait()
	defer l.Close()
	script := "i=0; while [ $i -lt 5 ]; do echo so $i | " + bridge + address + " & i=$((i+1)); done; wait"
	got, err := b.out(ctx, script)
	if err != nil {
		return err
	}
	for i := range 5 {
		if want := fmt.Sprintf("SO %d\n", i); !bytes.Contains([]byte(got), []byte(want)) {
			return fmt.Errorf("read %q, want %q in it", got, want)
		}
	}
	if err := b.prints(ctx, "head -c 3000000 /dev/zero | "+bridge+address+" | wc -c | tr -d ' '", "3000000\n"); err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	res, err := b.sh(ctx, bridge+address+" </dev/null")
	if err == nil && res.Code == 0 {
		err = errors.New("the address still takes connections")
	}
	return err
}

// upper answers each connection with the received text in upper case.
func upper(l net.Listener, served *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		served.Go(func() {
			defer c.Close()
			if data, err := io.ReadAll(c); err == nil {
				_, _ = c.Write(bytes.ToUpper(data)) // the client checks the answer
			}
		})
	}
}
