//go:build sortid_unfenced

package window

// Without the fence a generator uses its node ID until it hears that it has lost it, like
// one that trusts in a time-to-live. NEVER BUILD A PROGRAM FOR USE WITH THIS TAG.
const fenced = false
