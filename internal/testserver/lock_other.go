//go:build !unix || solaris || aix

package testserver

// lockFile does nothing, because these systems have no flock. So Alone does not wait.
func lockFile(string) error { return nil }
