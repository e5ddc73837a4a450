//go:build !race

package hook_test

const racing = false
