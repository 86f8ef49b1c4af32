//go:build !linux

package bolt

const linux = false
