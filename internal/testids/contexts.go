package testids

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Contexts has IDs, and what stands around them. All readers of IDs are tested with it, in Go, in
// JavaScript and over HTTP.
type Contexts struct {
	Now time.Time
	IDs []struct {
		Text, Format, ID string
		Named            bool // Only readers that know the format find it in text.
	}
	Before, After []string // around an ID in text
	Nothing       []struct{ Text, Named string }

	Labels    []string    // before an ID alone, as a prefix
	Around    [][2]string // around an ID alone
	Numbers   []struct{ Text, Int, Time, Note string }
	NoNumbers []struct{ Text, Says string }               `json:"no_numbers"`
	Orders    []struct{ Text, From, UUID, Format string } // UUIDs in other orders of their bytes
}

// ReadContexts reads testdata/contexts.json of the root module.
func ReadContexts(t testing.TB) (c Contexts) {
	t.Helper()
	file := filepath.Join("testdata", "contexts.json")
	for range 9 {
		if _, err := os.Stat(file); err == nil {
			break
		}
		file = filepath.Join("..", file)
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || len(c.IDs) < 10 || len(c.Before)*len(c.After) < 1000 ||
		len(c.Labels)*len(c.Around) < 50 || len(c.Numbers) < 20 || len(c.NoNumbers) < 5 || len(c.Orders) < 20 {
		t.Fatalf("%s: %v, or it has too few cases", file, err)
	}
	return c
}

// Alone returns texts with an ID: with each label and each pair around it.
func (c *Contexts) Alone(id string) (texts []string) {
	for _, label := range append([]string{""}, c.Labels...) {
		for _, around := range c.Around {
			texts = append(texts, around[0]+label+id+around[1])
		}
	}
	return texts
}
