// Package browsertest tests the page and sortid.js in a browser and in Node. It is a module of its
// own, so that users who install the command do not download its dependencies.
package browsertest
