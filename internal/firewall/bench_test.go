package firewall_test

import (
	"fmt"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
)

// The time that Apply adds to a container's start, without the resolution of names.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 100, 5000} {
		b.Run(fmt.Sprintf("%d_ranges", n), func(b *testing.B) {
			if err := firewall.Check(); err != nil {
				b.Skip(err)
			}
			var r firewall.Rules
			for i := range n {
				r.Allow = append(r.Allow, fmt.Sprintf("20.%d.%d.0/25:443", i/256, i%256))
			}
			ns := namespace(b)
			for b.Loop() {
				if _, err := firewall.Apply(b.Context(), ns, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
