//go:build !sortid_unfenced

package window

// fenced is false only in a build that shows that the tests of leases can fail.
const fenced = true
