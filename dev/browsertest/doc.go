// Package browsertest tests the page in a browser, and the npm package.
package browsertest
