// Package browsertest holds the tests of the page and of sortid.js in a browser and in
// Node. It is a module of its own, so that nobody who installs the command needs them.
package browsertest
