// This program imports package format, but uses nothing of it.
package main

import _ "github.com/sortid/sortid/format"

func main() {}
