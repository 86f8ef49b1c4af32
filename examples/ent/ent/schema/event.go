// Package schema describes the tables.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"

	"github.com/sortid/sortid/scru128"
)

type Event struct{ ent.Schema }

// Fields returns the columns. A scru128.UUID is for a column of type uuid.
func (Event) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").GoType(scru128.UUID{}).
			SchemaType(map[string]string{dialect.Postgres: "uuid"}).
			DefaultFunc(func() scru128.UUID { return scru128.UUID(scru128.New()) }),
		field.String("what"),
	}
}
