// Package browsertest tests the page and sortid.js in a browser and in Node.
package browsertest
