package bolt

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

func inspect(path string) ([]string, error) {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`)
	if err != nil {
		return nil, err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return nil, refuse("a network drive")
	}
	return nil, nil
}
