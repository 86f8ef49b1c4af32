// Package sortid is the root of five packages for time-sortable unique IDs. It holds no
// code of its own; import the package of the format:
//
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without any coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits with a check symbol and 15 bits of one's own
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// All five have the same shape: learn one, know all. Package
// [github.com/sortid/sortid/scheme] puts them behind one table, for programs that
// learn only at run time which format they handle.
package sortid
