#!/bin/sh
# Prints the licences of all software in a Go binary: notices.sh BINARY
set -eu
add() { # add TITLE FOLDER
  names=$(ls "$2" | grep -Ei '^(licen[cs]e|copying|notice|patents)([-.].*)?$') ||
    { echo "$1: a distribution must have its licence, but $2 has none" >&2; exit 1; }
  for name in $names; do
    printf '\n%s\n%s (%s)\n\n' "$line" "$1" "$name"
    cat "$2/$name"
  done
}

line==============================================================================
echo 'The command sortid contains the software that is listed here, under these licences.'
add 'The Go standard library' "$(go env GOROOT)"
parts=$(go version -m "$1")
echo "$parts" | awk '$1 == "dep" && $2 !~ "^github.com/sortid/" { print $2 "@" $3 }' |
  while read -r module; do add "$module" "$(go list -m -f '{{.Dir}}' "$module")"; done
