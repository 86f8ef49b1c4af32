// Command gorm stores events and their users under SCRU128 keys in PostgreSQL, with GORM.
//
//	sortid sql postgres | psql "$DATABASE_URL"
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

// A User has a typed ID, such as user_0372ijojuxuhjsfkeryi2mrtm, which the database makes. The
// column id is a uuid, and the column friend is a text with the prefix.
type User struct {
	ID     UserID `gorm:"type:uuid;primaryKey;default:sortid.scru128_new()"`
	Name   string `gorm:"not null"`
	Friend typed.Text[User, scru128.ID]
}

type UserID = typed.ID[User, scru128.ID]

func (User) Prefix() string { return "user" }

// An Event has a scru128.UUID for a column of type uuid. The program makes the ID.
type Event struct {
	ID     scru128.UUID `gorm:"type:uuid;primaryKey"`
	UserID UserID       `gorm:"type:uuid;not null"`
	User   User
	What   string `gorm:"not null"`
}

func (e *Event) BeforeCreate(*gorm.DB) error {
	if scru128.ID(e.ID).IsZero() {
		e.ID = scru128.UUID(scru128.New())
	}
	return nil
}

func run(ctx context.Context, url string) error {
	// By default, GORM writes warnings about slow queries to standard output.
	config := gorm.Config{Logger: logger.Default.LogMode(logger.Error)}
	db, err := gorm.Open(postgres.Open(url), &config)
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer pool.Close()
	db = db.WithContext(ctx)

	if err := db.AutoMigrate(&User{}, &Event{}); err != nil {
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
	old := Event{ID: scru128.UUID(scru128.First(time.Now().Add(-48 * time.Hour))), UserID: ada.ID,
		What: "moved"}
	if err := db.Create(&old).Error; err != nil {
		return err
	}
	events := make([]Event, 250)
	for i := range events {
		events[i].UserID, events[i].What = charles.ID, fmt.Sprint("event ", i)
	}
	if err := db.CreateInBatches(events, 100).Error; err != nil {
		return err
	}

	now := time.Now()
	recent, err := between(db, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
	fmt.Printf("%d events of the last hour\n", len(recent))

	var users []User
	since := typed.First[UserID](now.Add(-time.Hour))
	// The order by id is the order by time only between milliseconds, for IDs of scru128_new.
	if err := db.Where("id >= ?", since).Order("name").Find(&users).Error; err != nil {
		return err
	}
	for _, u := range users {
		fmt.Printf("%s is a friend of Ada: %t\n", u.Name, u.Friend.ID == ada.ID)
	}

	var friend string
	if err := db.Raw("SELECT left(friend, 5) FROM users WHERE id = ?", charles.ID).
		Scan(&friend).Error; err != nil {
		return err
	}
	fmt.Printf("in the column, friend begins with %s\n", friend)

	var last scru128.UUID
	for number := 1; ; number++ {
		events, err := page(db, last, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}

func between(db *gorm.DB, from, to time.Time) (events []Event, err error) {
	err = db.Where("id >= ? AND id < ?", scru128.UUID(scru128.First(from)),
		scru128.UUID(scru128.First(to))).
		Order("id").Find(&events).Error
	return events, err
}

// page returns the next events after an ID. With OFFSET, later pages would take longer.
func page(db *gorm.DB, after scru128.UUID, limit int) (events []Event, err error) {
	err = db.Where("id > ?", after).Order("id").Limit(limit).Find(&events).Error
	return events, err
}
