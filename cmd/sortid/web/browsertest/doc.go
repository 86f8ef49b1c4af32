// Package browsertest tests the page and sortid.js in a browser and in Node. It is a module of
// its own, so that nobody who installs the command needs it.
package browsertest
