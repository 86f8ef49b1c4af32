//go:build windows || plan9 || solaris || aix || android

package bolt

import "os"

// unlock does nothing: here, a lock ends when the file is closed.
func unlock(*os.File) {}
