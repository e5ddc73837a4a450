package announced

import (
	"testing"
	"time"
)

func Test_Announced_Connections_Are_Bounded_And_Expire(t *testing.T) {
	t.Parallel()
	var c Connections[int]
	for port := range maxExpected + 10 {
		c.Expect(uint16(port+1), 5432)
	}
	if _, ok := c.Take(10); ok || len(c.expected) != maxExpected {
		t.Errorf("%d expected, the oldest too: %v", len(c.expected), ok)
	}
	if to, ok := c.Take(11); !ok || to != 5432 {
		t.Errorf("%d, %v", to, ok)
	}
	c.Expect(60000, 1)
	c.Expect(60000, 2)
	for want := 1; want <= 2; want++ {
		if to, ok := c.Take(60000); !ok || to != want {
			t.Errorf("%d, %v, want %d", to, ok, want)
		}
	}
	c.Expect(60001, 1)()
	if _, ok := c.Take(60001); ok {
		t.Error("a connection was expected that was withdrawn")
	}
	for i := range c.expected {
		c.expected[i].until = time.Now().Add(-time.Second)
	}
	if _, ok := c.Take(100); ok || len(c.expected) != 0 {
		t.Errorf("%d still expected", len(c.expected))
	}
}
