package examples

import (
	"database/sql"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/scru128"
)

// checkDefault checks that the database has made the ID, and that the program has read it.
func checkDefault(t *testing.T, note, stored scru128.UUID) {
	t.Helper()
	if scru128.ID(stored).IsZero() || stored != note {
		t.Errorf("%v, stored %v", note, stored)
	}
}

// In Bun, the zero ID means DEFAULT if the tag has nullzero.
func TestDefaultBun(t *testing.T) {
	type Note struct {
		ID   scru128.UUID `bun:"type:uuid,pk,nullzero,default:gen_random_uuid()"`
		What string
	}
	pool, err := sql.Open("pgx", testserver.Postgres(t))
	ok(t, err)
	defer pool.Close()
	db := bun.NewDB(pool, pgdialect.New())
	_, err = db.NewCreateTable().Model((*Note)(nil)).Exec(t.Context())
	ok(t, err)
	note, back := Note{What: "made by the database"}, Note{}
	_, err = db.NewInsert().Model(&note).Exec(t.Context())
	ok(t, err)
	ok(t, db.NewSelect().Model(&back).Scan(t.Context()))
	checkDefault(t, note.ID, back.ID)
}

// In GORM, the zero ID means DEFAULT if the tag has default.
func TestDefaultGORM(t *testing.T) {
	type Note struct {
		ID   scru128.UUID `gorm:"type:uuid;primaryKey;default:gen_random_uuid()"`
		What string
	}
	db, err := gorm.Open(postgres.Open(testserver.Postgres(t)))
	ok(t, err)
	pool, err := db.DB()
	ok(t, err)
	defer pool.Close()
	ok(t, db.AutoMigrate(&Note{}))
	note, back := Note{What: "made by the database"}, Note{}
	ok(t, db.Create(&note).Error)
	ok(t, db.First(&back).Error)
	checkDefault(t, note.ID, back.ID)
}
