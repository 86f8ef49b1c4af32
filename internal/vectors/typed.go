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
		for _, p := range f.printed {
			text := f.text(f.parse(p.text))
			for _, prefix := range prefixes {
				v.Valid = append(v.Valid, conformance.TypedValid{
					Note: prefix.note, Format: f.name, Prefix: prefix.prefix, Inner: text,
					Text: join(prefix.prefix, text),
				})
			}
		}
		text := f.text(f.parse(f.printed[len(f.printed)-1].text))
		if f.name == "uid60" {
			text = "_-_-_-_-_-" // the alphabet has the separator
			v.Valid = append(v.Valid,
				conformance.TypedValid{Note: "_ in the ID", Format: f.name, Prefix: "a_b",
					Inner: text, Text: "a_b_" + text},
				conformance.TypedValid{Note: "_ in an old ID", Format: f.name, Prefix: "user",
					Inner: "xi_aS8QBh", Text: "user_xi_aS8QBh"})
			text = "xiAnaS8QB_"
		}
		for _, w := range wrong {
			v.Invalid = append(v.Invalid, conformance.TypedInvalid{
				Note: w.note, Format: f.name, Found: w.prefix, Reason: "prefix", Text: w.prefix +
					"_" + text,
			})
		}
		v.Invalid = append(v.Invalid,
			conformance.TypedInvalid{Note: "another prefix", Format: f.name, Want: "user",
				Found: "order", Reason: "prefix", Text: "order_" + text},
			conformance.TypedInvalid{Note: "a longer prefix", Format: f.name, Want: "user",
				Found: "users", Reason: "prefix", Text: "users_" + text},
			conformance.TypedInvalid{Note: "a shorter prefix", Format: f.name, Want: "user",
				Found: "use", Reason: "prefix", Text: "use_" + text},
			conformance.TypedInvalid{Note: "one more part", Format: f.name, Want: "user",
				Found: "user_session", Reason: "prefix", Text: "user_session_" + text},
			conformance.TypedInvalid{Note: "upper case", Format: f.name, Want: "user",
				Found: "USER", Reason: "prefix", Text: "USER_" + text},
			conformance.TypedInvalid{Note: "the ID is missing", Format: f.name, Want: "user",
				Found: "user", Reason: "length", Text: "user_"},
			conformance.TypedInvalid{Note: "a bad symbol in the ID", Format: f.name, Want: "user",
				Found: "user", Reason: "symbol", Text: "user_" + text[:3] + "!" + text[4:]},
			conformance.TypedInvalid{Note: "an ID that is too long", Format: f.name, Want: "user",
				Found: "user", Reason: "length", Text: "user_" + text + text},
		)
		if f.name != "uid60" {
			v.Invalid = append(v.Invalid,
				conformance.TypedInvalid{Note: "no prefix", Format: f.name, Want: "user",
					Reason: "prefix", Text: text},
				conformance.TypedInvalid{Note: "two separators", Format: f.name, Want: "user",
					Found: "user", Reason: "length", Text: "user__" + text})
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
