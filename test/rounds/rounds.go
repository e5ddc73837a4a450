// Package rounds determines how often a test that tries random moments or random input repeats.
package rounds

import (
	"os"
	"strconv"
)

// Factor is the environment variable that multiplies every number of rounds: `make test-all` sets it to 5.
const Factor = "AGENT_SANDBOX_ROUNDS"

// Of returns n times the factor in the environment. Without one, or with one that is not a positive number, it returns
// n.
func Of(n int) int {
	if factor, err := strconv.Atoi(os.Getenv(Factor)); err == nil && factor > 0 {
		return n * factor
	}
	return n
}
