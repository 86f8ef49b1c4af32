// Package browsertest tests the page and sortid.js in a browser and in Node. It is a module of its
// own, so that users of the command do not download the dependencies of these tests.
package browsertest
