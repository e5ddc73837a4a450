package session

import (
	"runtime"
	"sync"
)

// reserveThreads makes Go's runtime create n threads now and keep them. They count against the limit of processes that commands
// share with the guest. Once commands have used it up, the kernel refuses further threads (EAGAIN, pids cgroup), and the
// runtime ends a program that needs one more.
func reserveThreads(n int) {
	release := make(chan struct{})
	var created, done sync.WaitGroup
	created.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread() // so that each goroutine needs a thread of its own
			created.Done()
			<-release
			runtime.UnlockOSThread() // the runtime keeps the thread
		})
	}
	created.Wait()
	close(release)
	done.Wait()
}
