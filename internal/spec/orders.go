package spec

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

// An Order is an order in which some programs store or write the bytes of a UUID.
type Order struct {
	Name  string `json:"name"`
	Use   string `json:"use"`   // what writes the bytes like this
	Bytes string `json:"bytes"` // for each byte of the UUID, its place, as a hexadecimal digit
	// Hyphens are the places in a text with hyphens, if they differ from Bytes.
	Hyphens string `json:"hyphens,omitempty"`
	// Formats are the formats that programs write like this. Other formats would fit more random
	// numbers.
	Formats []string `json:"formats"`
}

var orders = []Order{
	{"guid", ".NET's GUIDs and NEWSEQUENTIALID()", "3210547689abcdef", "", []string{"uuidv1", "uuidv7"}},
	{"sqlserver", "SQL Server's sorting", "abcdef8967450123", "abcdef8976543210", []string{"uuidv7"}},
	{"java", "MongoDB's old Java driver", "76543210fedcba98", "", []string{"uuidv1", "uuidv7"}},
	{"mysql", "MySQL's UUID_TO_BIN(..., 1)", "4567230189abcdef", "", []string{"uuidv1"}},
}

// Orders returns the names of orders of bytes.
func Orders() (names []string) {
	for i := range orders {
		names = append(names, orders[i].Name)
	}
	return names
}

// Reorder returns the UUID of 16 bytes that were written in the order with this name, in a text with
// hyphens or not.
func Reorder(name string, written [16]byte, hyphens bool) [16]byte {
	return orderOf(name).uuid(&written, hyphens)
}

// InOrder returns the bytes of a UUID in the order with this name.
func InOrder(name string, uuid [16]byte) (written [16]byte) {
	places := orderOf(name).Bytes
	for i := range uuid {
		written[placeOf(places[i])] = uuid[i]
	}
	return written
}

func orderOf(name string) *Order {
	return &orders[slices.IndexFunc(orders, func(o Order) bool { return o.Name == name })]
}

func (o *Order) uuid(written *[16]byte, hyphens bool) (u [16]byte) {
	places := o.Bytes
	if hyphens && o.Hyphens != "" {
		places = o.Hyphens
	}
	for i := range u {
		u[i] = written[placeOf(places[i])]
	}
	return u
}

func placeOf(digit byte) int { return strings.IndexByte("0123456789abcdef", digit) }

// InOtherOrder says that a text is a UUID with a plausible time if its bytes are in another order; or
// it is empty. Fewer than 1 in 1000 random texts are such a UUID.
func InOtherOrder(text string, now time.Time) string {
	written, ok := UUIDBytes(text)
	if !ok {
		return ""
	}
	for i := range orders {
		o := &orders[i]
		u := o.uuid(&written, len(text) == textcodec.UUIDLen)
		version := int(u[6] >> 4)
		if version < 1 || version > len(versions()) {
			continue
		}
		f := versions()[version-1]
		w, err := f.FromBytes(u[:])
		if err == nil && slices.Contains(o.Formats, f.Name) && f.Plausible(&w, now) {
			return fmt.Sprintf("in the byte order of %s, it is the %s %s of %s; --from %s reads it",
				o.Use, f.Name, f.In(w, UUID), words.Time(f.Time(&w)), o.Name)
		}
	}
	return ""
}

// UUIDBytes returns the bytes of a UUID's text, with hyphens or not.
func UUIDBytes(text string) (b [16]byte, ok bool) {
	switch len(text) {
	case textcodec.UUIDLen:
		return b, textcodec.DecodeUUID(&b, []byte(text)) < 0
	case 2 * len(b):
		_, err := hex.Decode(b[:], []byte(text))
		return b, err == nil
	}
	return b, false
}
