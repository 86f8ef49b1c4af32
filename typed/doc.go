// Package typed gives the IDs of each kind of object a prefix and a Go type. The ID of a user is
// then user_0372ijojuxuhjsfkeryi2mrtm. A function for orders' IDs does not accept users' IDs.
//
//	type User struct {
//		ID   typed.ID[User, scru128.ID]
//		Name string
//	}
//
//	func (User) Prefix() string { return "user" }
//	type UserID = typed.ID[User, scru128.ID]
//
//	id := typed.New[UserID]()                // user_0372hg16csmsm50l8dikcvukc
//	id, err := typed.Parse[UserID](s)        // an error if s has another prefix
//	var order OrderID = id                   // does not compile
//
// The first type argument needs only a method Prefix. If all types use one format, declare an alias
// once. Then each type needs one line:
//
//	type ID[P typed.Prefixer] = typed.ID[P, scru128.ID]
//	func (User) Prefix() string { return "user" }    // ID[User]
//	func (Order) Prefix() string { return "order" }  // ID[Order]
//
// A typed ID contains an ID without the prefix, and has the same size. The prefix costs time only
// when a program writes or reads text. It needs no allocation.
//
// # Text
//
// The text is the prefix, an underscore and the ID's text. Prefixes follow the rules of the format
// TypeID: a prefix has at most 63 characters a-z and _, and no _ at either end. If a prefix breaks
// these rules, the first reading or writing of a text panics. If the first type argument is an ID
// type, the first writing panics. After an empty prefix there is no underscore. The separator is
// the last _ that is not part of a uid60 text.
//
// Texts with the same prefix sort like the IDs, except for uid60. JSON, log/slog, flag.TextVar and
// other packages that use [encoding.TextMarshaler] write the text.
//
// # Databases
//
// A column stores the ID without the prefix. [ID.Value] returns a uuid for scru128 and euid, a
// bigint for scru64 and uid60, and 20 bytes for scru160. Use [Bytes] for a column of bytes, such as
// BINARY(16), [Text] to store text with the prefix, and [Any] for a column with several prefixes.
//
// The binary form of an ID has no prefix, but the form for package gob has one.
//
// # Old texts
//
// If clients still send other texts, such as UUIDs, or a column contains them, let the type of the
// prefix read them; see [OldParser]. What a typed ID writes is always the text above.
//
// # Generators
//
// [New] uses the format's process-wide generator. For scru64 and uid60 use [Generate], because
// their generators need a node ID or can fail:
//
//	type OrderID = typed.ID[order, scru64.ID]
//	id, err := typed.Generate[OrderID](g)    // order_0u2pf62ji4b9
//	id := typed.From[OrderID](inner)         // inner is an ID without a prefix
package typed
