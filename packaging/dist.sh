#!/bin/sh
# Writes the files of a release to a new folder: dist.sh VERSION FOLDER [OS/ARCHITECTURE,...]
# The files depend only on the commit, the version, and the versions of Go and the other programs.
# "make dist" runs this script, and installs nfpm and cyclonedx-gomod in bin first.
set -eu
umask 022
cd "$(dirname "$0")/.."
version=$1 dist=$2
targets=${3:-linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" TZ=UTC LC_ALL=C

go run ./internal/release pack "$version" "$work" >"$work/env"
while IFS= read -r variable; do export "${variable?}"; done <"$work/env"
build() { # build FILE: for $GOOS and $GOARCH
  go install -trimpath -ldflags='-s -w -buildid=' "github.com/sortid/sortid/cmd/sortid@$version"
  find "$GOPATH/bin" -type f -exec mv {} "$1" \;
}
settle() { find "$1" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +; }

rm -rf "$dist"
mkdir -p "$dist" "$work/docs/man" "$work/docs/completions"
build "$work/sortid"
cp LICENSE CHANGELOG.md README.md "$work/docs"
"$work/sortid" man "$work/docs/man"
for shell in bash zsh fish powershell; do
  "$work/sortid" completion $shell >"$work/docs/completions/sortid.${shell%owershell}"
done
mv "$work/docs/completions/sortid.p" "$work/docs/completions/sortid.ps1"

for target in $(echo "$targets" | tr , ' '); do
  export GOOS="${target%/*}" GOARCH="${target#*/}"
  name=sortid_${version#v}_${GOOS}_$GOARCH
  stage=$work/$name
  cp -R "$work/docs" "$stage"
  binary=$stage/sortid
  [ "$GOOS" != windows ] || binary=$binary.exe
  build "$binary"
  packaging/notices.sh "$binary" >"$stage/THIRD-PARTY-NOTICES.txt"
  bin/cyclonedx-gomod bin -json -std -noserial -notimestamp -version "$version" \
    -output "$dist/$name.cdx.json" "$binary"
  settle "$stage"
  cd "$work"
  case $GOOS in
  windows) find "$name" -type f | sort | zip -qX9 "$dist/$name.zip" -@ ;;
  *) tar --sort=name --owner=root:0 --group=root:0 --format=ustar -cf - "$name" |
    gzip -9n >"$dist/$name.tar.gz" ;;
  esac
  cd "$root"
  [ "$GOOS" = linux ] || continue
  gzip -9n "$stage"/man/*
  cp -R packaging/systemd "$stage"
  settle "$stage"
  for format in deb rpm; do
    ARCH=$GOARCH VERSION=$version STAGE=$stage \
      bin/nfpm package -f packaging/nfpm.yaml -p $format -t "$dist/$name.$format" >"$work/log" ||
      { cat "$work/log" >&2; exit 1; }
  done
done
cd "$dist"
sha256sum sortid_* | tee SHA256SUMS
