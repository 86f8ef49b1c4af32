package examples

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

func openGORM(t *testing.T, dialector gorm.Dialector) *gorm.DB {
	t.Helper()
	db := check.Must(gorm.Open(dialector, &gorm.Config{Logger: logger.Discard}))(t)
	pool := check.Must(db.DB())(t)
	t.Cleanup(func() { pool.Close() })
	return db
}

// crud creates, finds and deletes a row by its ID.
func crud[R any, T comparable](t *testing.T, db *gorm.DB, row R, id T, idOf func(R) T) {
	t.Helper()
	check.OK(t, db.AutoMigrate(&row))
	var typ string
	check.OK(t, db.Raw("SELECT data_type FROM information_schema.columns WHERE column_name = 'id' "+
		"AND table_schema = current_schema()").Scan(&typ).Error)
	if typ != "uuid" {
		t.Errorf("%T: the column has the type %s", row, typ)
	}
	check.OK(t, db.Create(&row).Error)
	var one, first R
	check.OK(t, db.First(&one, "id = ?", id).Error)
	check.OK(t, db.First(&first, id).Error)
	var in []R
	check.OK(t, db.Find(&in, "id IN ?", []T{id}).Error)
	if idOf(one) != id || idOf(first) != id || len(in) != 1 || idOf(in[0]) != id {
		t.Errorf("%v is read as %v, %v, %v", id, one, first, in)
	}
	check.OK(t, db.Save(&one).Error)
	if r := db.Delete(&one); r.Error != nil || r.RowsAffected != 1 {
		t.Errorf("%d rows deleted, %v", r.RowsAffected, r.Error)
	}
}

// GORM takes the column's type from a scru128.UUID and a typed.ID.
func TestGORM(t *testing.T) {
	db := openGORM(t, postgres.Open(testserver.Postgres(t)))
	type Note struct {
		ID   scru128.UUID `gorm:"primaryKey"`
		What string
	}
	id := scru128.UUID(scru128.New())
	crud(t, db, Note{ID: id}, id, func(n Note) scru128.UUID { return n.ID })

	type personID = typed.ID[person, scru128.ID]
	type Person struct {
		ID     personID `gorm:"primaryKey"`
		Friend typed.Text[person, scru128.ID]
		Raw    typed.Bytes[person, scru128.ID]
	}
	db = openGORM(t, postgres.Open(testserver.Postgres(t)))
	of := typed.New[personID]()
	crud(t, db, Person{of, of.Text(), of.Bytes()}, of, func(p Person) personID { return p.ID })
	var types []string
	check.OK(t, db.Raw("SELECT data_type FROM information_schema.columns WHERE table_name = 'people' "+
		"AND table_schema = current_schema() ORDER BY column_name").Scan(&types).Error)
	if len(types) != 3 || types[0] != "text" || types[2] != "bytea" {
		t.Errorf("the columns have the types %v", types)
	}
}

// With pgxid in the connections, GORM also stores a scru128.ID as a uuid.
func TestGORMRegistered(t *testing.T) {
	config := check.Must(pgx.ParseConfig(testserver.Postgres(t)))(t)
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(
		func(_ context.Context, conn *pgx.Conn) error {
			pgxid.Register(conn.TypeMap())
			return nil
		}))
	db := openGORM(t, postgres.New(postgres.Config{Conn: pool}))
	type Note struct {
		ID   scru128.ID `gorm:"type:uuid;primaryKey"`
		What string
	}
	id := scru128.New()
	crud(t, db, Note{ID: id}, id, func(n Note) scru128.ID { return n.ID })
}

// Without pgxid and wrapper types, a scru128.ID is a text, which a column of type uuid refuses.
func TestUnregistered(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testserver.Postgres(t))
	check.OK(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), "CREATE TABLE notes (id uuid, "+
		"raw bytea CONSTRAINT an_id_has_16_bytes CHECK (octet_length(raw) = 16))")
	check.OK(t, err)
	id := scru128.New()
	for column, code := range map[string]string{"id": "22P02", "raw": "23514"} {
		_, err := conn.Exec(t.Context(), "INSERT INTO notes ("+column+") VALUES ($1)", id)
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v, want an error %s", column, err, code)
		}
	}
	pgxid.Register(conn.TypeMap())
	_, err = conn.Exec(t.Context(), "INSERT INTO notes VALUES ($1, $2)", id, id)
	check.OK(t, err)
}
