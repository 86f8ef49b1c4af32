package main

import (
	"testing"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/testserver"
)

// With a default in the tag the zero ID means the column's DEFAULT. The database's ID is read back.
func TestDefault(t *testing.T) {
	type Note struct {
		ID   scru128.UUID `gorm:"type:uuid;primaryKey;default:gen_random_uuid()"`
		What string
	}
	db, err := gorm.Open(postgres.Open(testserver.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := db.AutoMigrate(&Note{}); err != nil {
		t.Fatal(err)
	}
	note := Note{What: "made by the database"}
	if err := db.Create(&note).Error; err != nil {
		t.Fatal(err)
	}
	var back Note
	if err := db.First(&back).Error; err != nil || scru128.ID(back.ID).IsZero() ||
		back.ID != note.ID {
		t.Errorf("%v, stored %v, %v", note.ID, back.ID, err)
	}
}
