// Command typedgorm stores users under typed IDs in PostgreSQL, with GORM.
//
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// A UserID is an ID such as user_0372ijojuxuhjsfkeryi2mrtm.
type UserID = typed.ID[User, scru128.ID]

// A User is a row. Its column id is a uuid without the prefix; the column friend is a text with
// the prefix.
type User struct {
	ID     UserID `gorm:"type:uuid;primaryKey"`
	Name   string `gorm:"not null"`
	Friend typed.Text[User, scru128.ID]
}

// Prefix is the prefix of users' IDs.
func (User) Prefix() string { return "user" }

// BeforeCreate gives the user an ID, if it has none.
func (u *User) BeforeCreate(*gorm.DB) error {
	if u.ID.IsZero() {
		u.ID = typed.New[UserID]()
	}
	return nil
}

func run(ctx context.Context, url string, out io.Writer) error {
	db, err := gorm.Open(postgres.Open(url))
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer pool.Close()
	db = db.WithContext(ctx)
	if err := db.AutoMigrate(&User{}); err != nil {
		return err
	}

	ada := User{Name: "Ada"}
	if err := db.Create(&ada).Error; err != nil {
		return err
	}
	charles := User{Name: "Charles", Friend: ada.ID.Text()}
	if err := db.Create(&charles).Error; err != nil {
		return err
	}

	// The users of the last hour, in order.
	var users []User
	since := typed.First[UserID](time.Now().Add(-time.Hour))
	if err := db.Where("id >= ?", since).Order("id").Find(&users).Error; err != nil {
		return err
	}
	for _, u := range users {
		fmt.Fprintf(out, "%s: friend of Ada: %t\n", u.Name, u.Friend.ID == ada.ID)
	}
	var friend string
	err = db.Raw("SELECT friend FROM users WHERE id = ?", charles.ID).Scan(&friend).Error
	fmt.Fprintf(out, "the column has the prefix: %t\n", friend == ada.ID.String())
	return err
}
