//go:build !linux

package wrapper

func reportDenied(string, string) {}
