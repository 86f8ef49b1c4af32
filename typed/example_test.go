package typed_test

import (
	"fmt"
	"strings"

	"github.com/sortid/sortid/format"
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

type Client struct{}

func (Client) Prefix() string { return "client" }

// ParseOld reads the TypeIDs and UUIDs that programs had before.
func (Client) ParseOld(text string) (scru128.ID, error) {
	name := "uuidv4"
	if strings.HasPrefix(text, "client_") {
		name = "typeid"
	}
	f, err := format.Lookup(name)
	if err != nil {
		return scru128.ID{}, err
	}
	old, err := f.Parse(text)
	if err != nil {
		return scru128.ID{}, err
	}
	return scru128.FromBytes(old.Bytes())
}

var _ typed.OldParser[scru128.ID] = Client{}

func ExampleOldParser() {
	for _, text := range []string{
		"client_0372ijojuxuhjsfkeryi2mrtm",
		"client_01h455vb4pex5vsknk084sn02q",
		"919108f7-52d1-4320-9bac-f847db4148a8",
		"order_01h455vb4pex5vsknk084sn02q",
	} {
		id, err := typed.Parse[typed.ID[Client, scru128.ID]](text)
		if err != nil {
			fmt.Println("refused:", text)
			continue
		}
		fmt.Println(id)
	}
	// Output:
	// client_0372ijojuxuhjsfkeryi2mrtm
	// client_039srkj01e44uynszf2f2njh3
	// client_8m8scpfugfij4qenj0ig77qg8
	// refused: order_01h455vb4pex5vsknk084sn02q
}
