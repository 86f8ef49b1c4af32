package scan

import (
	"strings"
	"testing"
	"time"
)

func TestPrefix(t *testing.T) {
	const id = "0372ijojuxuhjsfkeryi2mrtm"
	long := strings.Repeat("a", 63)
	for text, want := range map[string]string{
		"user_" + id:            "user_",
		"id=user_session_" + id: "user_session_",
		`"user_` + id + `"`:     "user_",
		" " + long + "_" + id:   long + "_",
		" " + long + "a_" + id:  "",
		id:                      "",
		" _" + id:               "",
		" user__" + id:          "",
		" _user_" + id:          "user_",
		"User_" + id:            "",
		"user2_" + id:           "",
		"x-user_" + id:          "user_",
		"user-" + id:            "",
		"/user_" + id:           "user_",
	} {
		found := find(newFinder(time.Now()), text)
		if len(found) != 1 {
			t.Errorf("%s: found %v", text, found)
			continue
		}
		if got := found[0].prefix(text); got != want {
			t.Errorf("%s: prefix %q, want %q", text, got, want)
		}
	}
}
