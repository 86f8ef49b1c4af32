package supervise

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
)

// Nodes are the node IDs of one program.
type Nodes struct {
	IDs  []uint32 // in ascending order
	Bits int
	// The realm grants node IDs of several sizes. Then 4 of 8 bits and 4 of 10 bits are two node
	// IDs, so a node ID is never shown without its size.
	Mixed  bool
	Format string // the name of the realm's format; "" if any generator may lease
	Count  bool   // the program asked for a number of node IDs, even if the number is 1
}

// one returns the node ID at index i with its size, as in "42/10".
func (n Nodes) one(i int) string { return (Nodes{IDs: n.IDs[i : i+1], Bits: n.Bits}).Spec() }

// Spec returns the node IDs with their sizes, as in "42/10" or "4/10,5/10".
func (n Nodes) Spec() string {
	return n.join(func(id string) string { return id + "/" + n.bits() })
}

func (n Nodes) bits() string { return strconv.Itoa(n.Bits) }

func (n Nodes) list() string { return n.join(func(id string) string { return id }) }

func (n Nodes) join(text func(id string) string) string {
	var all []string
	for _, id := range n.IDs {
		all = append(all, text(strconv.FormatUint(uint64(id), 10)))
	}
	return strings.Join(all, ",")
}

// A Variable is an environment variable of the program. Its value may have placeholders.
type Variable struct{ name, template string }

var (
	variableName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	})
	placeholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{|\{[\pL_]+\}`)
	})
)

const placeholders = "{node_id}, {node_ids}, {node_bits} and {node_spec}"

// parseVariable reads NAME=TEMPLATE.
func parseVariable(text string) (Variable, error) {
	name, template, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return Variable{}, fmt.Errorf("--env %q: want NAME=TEMPLATE", text)
	case !variableName().MatchString(name):
		return Variable{}, fmt.Errorf("--env %q: the name %q of a variable may have only letters, "+
			"digits and _, and begins with no digit", text, name)
	}
	for _, word := range placeholder().FindAllString(template, -1) {
		if _, known := (Nodes{IDs: []uint32{0}}).value(word); !known {
			return Variable{}, fmt.Errorf("--env %q: there is no placeholder %s; there are %s; "+
				"for the text %s, write {%s", text, word, placeholders, word, word)
		}
	}
	return Variable{name, template}, nil
}

// value returns what a placeholder stands for.
func (n Nodes) value(word string) (value string, known bool) {
	switch word {
	case "{{":
		return "{", true
	case "{node_id}", "{node_ids}":
		return n.list(), true
	case "{node_bits}":
		return n.bits(), true
	case "{node_spec}":
		return n.Spec(), true
	}
	return "", false
}

// uses reports whether the template has the placeholder.
func (v Variable) uses(word string) bool {
	return slices.Contains(placeholder().FindAllString(v.template, -1), word)
}

// check returns an error if the template would show a node ID without its size.
func (v Variable) check(realm string, mixed bool) error {
	if mixed && (v.uses("{node_id}") || v.uses("{node_ids}")) {
		return fmt.Errorf("--env %s: realm %s grants node IDs of several sizes, so a number alone "+
			"is not unique; use {node_spec}, or a realm of one size: "+
			"sortid lease create URL --realm NAME --node-bits N", v.name, realm)
	}
	return nil
}

func (v Variable) with(n Nodes) string {
	return v.name + "=" + placeholder().ReplaceAllStringFunc(v.template, func(word string) string {
		value, _ := n.value(word)
		return value
	})
}

const (
	idVariable   = "SORTID_NODE_ID"
	bitsVariable = "SORTID_NODE_BITS"
	idsVariable  = "SORTID_NODE_IDS"
)

// ByEnvironment returns the format whose libraries read a node ID from an environment variable,
// and the variable's name.
func ByEnvironment() (f *format.Format, variable string) {
	for _, f = range format.Ours() {
		if o, _ := generate.NodeOption(f); o.Env != "" {
			return f, o.Env
		}
	}
	panic("no format reads its node ID from the environment")
}

// environment returns the environment of the program. A variable of env wins over the others of its
// name.
func environment(inherited []string, n Nodes, env []Variable) []string {
	f, specVariable := ByEnvironment()
	// Variables of an outer "lease exec" have other node IDs.
	all := without(inherited, specVariable, idVariable, bitsVariable, idsVariable)
	if n.Format == f.Name() && !n.Count {
		all = append(all, specVariable+"="+n.Spec())
	}
	if !n.Mixed {
		all = append(all, bitsVariable+"="+n.bits(), idsVariable+"="+n.list())
		if !n.Count {
			all = append(all, idVariable+"="+n.list())
		}
	}
	for _, v := range env {
		all = append(without(all, v.name), v.with(n))
	}
	return all
}

func without(env []string, names ...string) []string {
	same := func(a, b string) bool {
		return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
	}
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(names, func(n string) bool { return same(n, name) })
	})
}

// environ returns this process's environment without the variables that have the store's secrets.
func environ(l *nodeid.Options) []string { return without(os.Environ(), l.SecretVariables()...) }

// ParseVariables reads the values of --env. Count says whether the program has several node IDs.
func ParseVariables(texts []string, count bool) (all []Variable, err error) {
	for _, text := range texts {
		v, err := parseVariable(text)
		if err != nil {
			return nil, err
		}
		if count && v.uses("{node_id}") {
			return nil, fmt.Errorf("--env %q: with --count there is no {node_id}; use {node_ids}", text)
		}
		all = append(all, v)
	}
	return all, nil
}
