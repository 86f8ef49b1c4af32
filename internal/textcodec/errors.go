package textcodec

import (
	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

func wrongLength(format string, s []byte, want string) error {
	return parseerr.Text(format, s, -1, sortid.ErrLength, want)
}

func wrongSymbol(format string, s []byte, t *DecodeTable, want string) error {
	return parseerr.Text(format, s, t.BadSymbol(s), sortid.ErrSymbol, want)
}
