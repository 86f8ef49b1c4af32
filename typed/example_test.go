package typed_test

import (
	"fmt"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

type Account struct {
	ID   AccountID
	Name string
}

func (Account) Prefix() string { return "account" }

type AccountID = typed.ID[Account, scru128.ID]

func Example() {
	id, err := typed.Parse[AccountID]("account_0372ijojuxuhjsfkeryi2mrtm")
	fmt.Println(id, err)
	fmt.Println(id.Time())

	_, err = typed.Parse[AccountID]("invoice_0372ijojuxuhjsfkeryi2mrtm")
	fmt.Println(err)
	// Output:
	// account_0372ijojuxuhjsfkeryi2mrtm <nil>
	// 2022-04-03 11:40:14.308 +0000 UTC
	// typed: cannot parse "invoice_0372ijojuxuhjsfkeryi2mrtm": wrong prefix "invoice", want "account"
}

func ExampleID() {
	// type ID[P typed.Prefixer] = typed.ID[P, scru128.ID]
	var id ID[Account]
	fmt.Println(id)
	// Output: account_0000000000000000000000000
}

type ID[P typed.Prefixer] = typed.ID[P, scru128.ID]

func ExampleAny() {
	id, err := typed.ParseAny[scru128.ID]("account_0372ijojuxuhjsfkeryi2mrtm")
	fmt.Println(id.Prefix(), id.Inner(), err)

	account, err := typed.As[AccountID](id)
	fmt.Println(account, err)
	// Output:
	// account 0372ijojuxuhjsfkeryi2mrtm <nil>
	// account_0372ijojuxuhjsfkeryi2mrtm <nil>
}
