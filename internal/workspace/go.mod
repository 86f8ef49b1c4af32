// This module has no code. It lets go.work build a clone whose modules require each
// other at a version that is not published yet: the go command leaves out requirements
// that any module of a workspace excludes, and uses the folders that go.work names.
// List here each version at which one module of this repository requires another.
module github.com/sortid/sortid/internal/workspace

go 1.25.0

exclude (
	github.com/sortid/sortid v0.1.0
	github.com/sortid/sortid/pgxid v0.1.0
	github.com/sortid/sortid/store v0.1.0
	github.com/sortid/sortid/testserver v0.1.0
)
