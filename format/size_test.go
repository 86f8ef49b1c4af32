package format

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// Users learn this package in ten minutes, so it stays small. Facts that only other packages of this
// project need stand in internal/spec.
func TestSize(t *testing.T) {
	paths, _ := filepath.Glob("*.go")
	var names []string
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := check.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || exportedType(d.Recv.List[0].Type) {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id)
						}
					case *ast.TypeSpec:
						add(s.Name)
					}
				}
			}
		}
	}
	if len(names) > 66 {
		t.Errorf("%d exported identifiers, want at most 66: %v", len(names), names)
	}
}

func exportedType(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}
