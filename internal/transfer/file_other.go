//go:build !unix

package transfer

const nonblock, noFollow, onlyDirectory = 0, 0, 0
