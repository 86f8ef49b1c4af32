// This program does not compile. A test compares the compiler's errors with the comments.
package main

import (
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
)

type (
	user  struct{}
	order struct{}
	plain struct{}
)

func (user) Prefix() string  { return "user" }
func (order) Prefix() string { return "order" }

type (
	UserID  = typed.ID[user, scru128.ID]
	OrderID = typed.ID[order, scru128.ID]
	ShortID = typed.ID[user, scru64.ID]
)

func find(UserID) {}

func main() {
	u, o := typed.New[UserID](), typed.New[OrderID]()
	find(u)
	find(o)                                         // ERROR cannot use o
	find(UserID(o))                                 // ERROR cannot convert o
	find(o.Inner())                                 // ERROR cannot use o.Inner()
	_ = u == o                                      // ERROR mismatched types
	_ = map[UserID]int{o: 1}                        // ERROR cannot use o
	_ = u.Compare(o)                                // ERROR cannot use o
	_ = u.Text() == o.Text()                        // ERROR mismatched types
	_, _ = typed.As[UserID](typed.Any[scru64.ID]{}) // ERROR does not satisfy
	_ = typed.From[UserID](scru64.ID(1))            // ERROR does not satisfy
	_ = typed.New[ShortID]()                        // ERROR does not satisfy
	_ = typed.ID[plain, scru128.ID]{}               // ERROR missing method Prefix
	_ = typed.ID[user, uint64]{}                    // ERROR does not satisfy
	_ = typed.ID[user, scru128.UUID]{}              // ERROR does not satisfy
}
