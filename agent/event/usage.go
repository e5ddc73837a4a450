package event

import "math"

// Usage counts tokens. The prompt is the sum of Input, CacheRead and CacheWrite.
type Usage struct {
	Input      int64 `json:"input"`               // of the prompt, neither read from a cache nor written to one
	Output     int64 `json:"output"`              // written by the model, its reasoning included
	CacheRead  int64 `json:"cache_read"`          // of the prompt, read from a cache
	CacheWrite int64 `json:"cache_write"`         // of the prompt, written to a cache
	Reasoning  int64 `json:"reasoning,omitempty"` // the part of Output that is reasoning; 0: not reported
}

// ModelUsage is the usage of one model.
type ModelUsage struct {
	Model   string   `json:"model"`
	Usage   Usage    `json:"usage"`
	CostUSD *float64 `json:"cost_usd,omitempty"` // nil: not reported
}

// Prompt returns the size of the prompt, with its cached parts.
func (u Usage) Prompt() int64 { return addCounts(addCounts(u.Input, u.CacheRead), u.CacheWrite) }

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage { return u.with(v, addCounts) }

// Minus returns u without v, never below zero.
func (u Usage) Minus(v Usage) Usage {
	return u.with(v, func(a, b int64) int64 { return max(0, max(0, a)-max(0, b)) })
}

// Most returns the higher of each count. Of two reports about one message the later one is
// not lower.
func (u Usage) Most(v Usage) Usage {
	return u.with(v, func(a, b int64) int64 { return max(a, b) })
}

func (u Usage) with(v Usage, f func(a, b int64) int64) Usage {
	return Usage{
		Input: f(u.Input, v.Input), Output: f(u.Output, v.Output), Reasoning: f(u.Reasoning, v.Reasoning),
		CacheRead: f(u.CacheRead, v.CacheRead), CacheWrite: f(u.CacheWrite, v.CacheWrite),
	}
}

// addCounts adds counts. They come from outside, so the sum is clamped to the range of the
// type.
func addCounts(a, b int64) int64 {
	a, b = max(0, a), max(0, b)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
