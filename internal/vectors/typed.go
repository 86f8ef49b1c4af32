package main

import (
	"strings"

	"github.com/sortid/sortid/internal/conformance"
)

func typed() (v conformance.Typed) {
	long := strings.Repeat("abcdefghi_", 6) + "jkl"
	prefixes := []struct{ note, prefix string }{
		{"a prefix", "user"},
		{"one letter", "a"},
		{"seven letters", "invoice"},
		{"eight letters", "customer"},
		{"underscores inside", "user_session__token"},
		{"63 characters, the most", long},
		{"no prefix, and no separator", ""},
	}
	wrong := []struct{ note, prefix string }{
		{"an upper-case letter", "User"},
		{"a digit", "user2"},
		{"a hyphen", "user-session"},
		{"a letter that is not ASCII", "usér"},
		{"_ at the front", "_user"},
		{"_ at the end", "user_"},
		{"64 characters", long + "m"},
		{"an empty prefix with a separator", ""},
	}
	for _, f := range formats {
		for printed := range strings.FieldsSeq(f.printed) {
			text := f.text(f.parse(printed))
			for _, prefix := range prefixes {
				v.Valid = append(v.Valid, conformance.TypedValid{
					Note: prefix.note, Format: f.name, Prefix: prefix.prefix, Inner: text,
					Text: join(prefix.prefix, text),
				})
			}
		}
		text := f.text(f.parse(f.last()))
		if f.name == "uid60" {
			text = "_-_-_-_-_-" // the alphabet has the separator
			v.Valid = append(v.Valid,
				conformance.TypedValid{Note: "_ in the ID", Format: f.name, Prefix: "a_b",
					Inner: text, Text: "a_b_" + text},
				conformance.TypedValid{Note: "_ in an old ID", Format: f.name, Prefix: "user",
					Inner: "xi_aS8QBh", Text: "user_xi_aS8QBh"})
			text = "xiAnaS8QB_"
		}
		invalid := func(note, want, found, reason, text string) {
			v.Invalid = append(v.Invalid, conformance.TypedInvalid{Note: note, Format: f.name,
				Want: want, Found: found, Reason: reason, Text: text})
		}
		for _, w := range wrong {
			invalid(w.note, "", w.prefix, "prefix", w.prefix+"_"+text)
		}
		invalid("another prefix", "user", "order", "prefix", "order_"+text)
		invalid("a longer prefix", "user", "users", "prefix", "users_"+text)
		invalid("a shorter prefix", "user", "use", "prefix", "use_"+text)
		invalid("one more part", "user", "user_session", "prefix", "user_session_"+text)
		invalid("upper case", "user", "USER", "prefix", "USER_"+text)
		invalid("the ID is missing", "user", "user", "length", "user_")
		invalid("a bad symbol in the ID", "user", "user", "symbol", "user_"+text[:3]+"!"+text[4:])
		invalid("an ID that is too long", "user", "user", "length", "user_"+text+text)
		if f.name != "uid60" {
			invalid("no prefix", "user", "", "prefix", text)
			invalid("two separators", "user", "user", "length", "user__"+text)
		}
	}
	return v
}

func join(prefix, text string) string {
	if prefix == "" {
		return text
	}
	return prefix + "_" + text
}
