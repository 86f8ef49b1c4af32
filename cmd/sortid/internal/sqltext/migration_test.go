package sqltext

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// A step is a section of docs/migration.md: statements, and the statements that undo them.
type step struct {
	name       string
	do, goBack []string
}

// migration returns the tables and the steps of a database's part of docs/migration.md. The files
// that it links belong to it.
func migration(t *testing.T, database string) (tables []string, steps []step) {
	t.Helper()
	text := string(check.Must(os.ReadFile("../../../../docs/migration.md"))(t))
	text = sqlFile.ReplaceAllStringFunc(text, func(link string) string {
		name := sqlFile.FindStringSubmatch(link)[1]
		return "\n```sql\n" + string(check.Must(os.ReadFile("../../../../"+name))(t)) + "```\n"
	})
	_, text, _ = strings.Cut(text, "\n## "+database+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	// The example of a month must not have begun.
	month := time.Now().UTC().AddDate(0, 1, 0)
	text = strings.NewReplacer("2027-01", month.Format("2006-01"), "2027_01", month.Format("2006_01"),
		"2027-02", month.AddDate(0, 1, 0).Format("2006-01")).Replace(text)
	for i, section := range strings.Split(text, "\n### ") {
		name, _, _ := strings.Cut(section, "\n")
		do, goBack, _ := strings.Cut(section, "\nTo undo")
		if i == 0 {
			tables = blocks(do)
			continue
		}
		steps = append(steps, step{name, blocks(do), blocks(goBack)})
	}
	if len(tables) == 0 || len(steps) < 5 {
		t.Fatalf("docs/migration.md: %d statements for tables, %d steps", len(tables), len(steps))
	}
	return tables, steps
}

var (
	sqlBlock = regexp.MustCompile("(?ms)^```sql\n(.*?)^```$")
	sqlFile  = regexp.MustCompile(`\[[^]]*\]\(\.\./(examples/migration/[\w-]+\.sql)\)`)
)

// blocks returns the statements in a document's blocks of SQL.
func blocks(text string) (list []string) {
	for _, block := range sqlBlock.FindAllStringSubmatch(text, -1) {
		list = append(list, statements(block[1])...)
	}
	return list
}

// oldRows returns n, or a million for the long form of a test.
func oldRows(t *testing.T, n int) int {
	if testserver.Soak(t) > 0 {
		return 1_000_000
	}
	return n
}

// Programs write and read the tables of a migration.
type programs struct {
	t       *testing.T
	db      *sql.DB
	sql     programSQL
	rows    int          // old rows
	writes  atomic.Int64 // how many changes the programs have made
	forgets atomic.Bool  // programs may get errors for IDs that they know
	mu      sync.Mutex
	want    map[string]int // the number of notes of each event that a program has written
	stop    func()
	moves   int // how often move has run
}

type programSQL struct {
	touch    string           // changes any event
	add      string           // adds an event of a name, and returns its ID
	note     string           // adds a note to an ID, of a name
	remove   string           // removes an event by ID
	rejected func(error) bool // reports whether the database does not know an ID
	deadlock func(error) bool // or nil, if no program may be the victim of a deadlock
}

func (p *programs) start() {
	p.want = map[string]int{}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() { p.write(ctx, fmt.Sprintf("program %d: ", i)) })
	}
	group.Go(func() { p.read(ctx) })
	p.stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	p.t.Cleanup(p.stop)
}

// write adds, changes and deletes events and notes until the context ends.
func (p *programs) write(ctx context.Context, name string) {
	type event struct{ id, what string }
	var known []event
	for i := 0; ctx.Err() == nil; i++ {
		e := event{what: name + fmt.Sprint(i)}
		err := p.transaction(func(tx *sql.Tx) error {
			if _, err := tx.Exec(p.sql.touch); err != nil {
				return err
			}
			if err := tx.QueryRow(p.sql.add, e.what).Scan(&e.id); err != nil {
				return err
			}
			_, err := tx.Exec(p.sql.note, e.id, e.what)
			return err
		})
		if err != nil {
			p.t.Errorf("a program's transaction: %v", err)
			return
		}
		known = append(known, e)
		p.count(e.what, 1)

		// The program may have known this event since before a swap.
		e = known[rand.IntN(len(known))]
		if i%5 == 0 {
			removed := int64(0)
			err := p.transaction(func(tx *sql.Tx) error {
				result, err := tx.Exec(p.sql.remove, e.id)
				if err == nil {
					removed, err = result.RowsAffected()
				}
				return err
			})
			if err != nil {
				p.t.Errorf("a program deletes an event: %v", err)
				return
			}
			if removed == 1 {
				p.count(e.what, 0)
				known = slices.DeleteFunc(known, func(k event) bool { return k == e })
			}
			continue
		}
		err = p.transaction(func(tx *sql.Tx) error {
			_, err := tx.Exec(p.sql.note, e.id, e.what)
			return err
		})
		if err != nil && p.forgets.Load() && p.sql.rejected(err) {
			known = nil
		} else if err != nil {
			p.t.Errorf("a program adds a note to an event that it knows: %v", err)
			return
		} else {
			p.count(e.what, 1)
		}
		p.writes.Add(1)
	}
}

// transaction runs statements, and runs them again after a deadlock.
func (p *programs) transaction(do func(*sql.Tx) error) error {
	for {
		if err := p.once(do); err == nil || p.sql.deadlock == nil || !p.sql.deadlock(err) {
			return err
		}
	}
}

func (p *programs) once(do func(*sql.Tx) error) error {
	// In MariaDB, this level locks no gaps between rows, in which programs could wait for each other.
	tx, err := p.db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// count adds notes to an event, or forgets the event.
func (p *programs) count(what string, notes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.want[what] += notes
	if notes == 0 {
		delete(p.want, what)
	}
}

// move adds two notes to old events. It moves one of them, and one of the last call, to other
// events. The text of a note is always the text of its event.
func (p *programs) move() {
	p.t.Helper()
	n := 3 * p.moves
	p.moves++
	note := func(n int) string { return fmt.Sprintf("'old %d'", n) }
	event := func(n int) string { return "(SELECT id FROM events WHERE what = " + note(n) + ")" }
	add := func(n int) string {
		return "INSERT INTO notes (event_id, note) VALUES (" + event(n) + ", " + note(n) + ")"
	}
	moves := func(from, to int) string {
		return "UPDATE notes SET event_id = " + event(to) + ", note = " + note(to) +
			" WHERE note = " + note(from)
	}
	for _, s := range []string{add(n + 1), add(n + 2), moves(n+1, n+3), moves(n-1, n)} {
		if err := p.transaction(func(tx *sql.Tx) error { _, err := tx.Exec(s); return err }); err != nil {
			p.t.Fatalf("a program adds and moves notes: %v\n%s", err, s)
		}
	}
}

func (p *programs) read(ctx context.Context) {
	for ctx.Err() == nil {
		var old, dangling int
		err := p.db.QueryRow(`SELECT (SELECT COUNT(*) FROM events WHERE what LIKE 'old %'),
			(SELECT COUNT(*) FROM notes LEFT JOIN events ON events.id = event_id
				WHERE COALESCE(what, '') <> note)`).Scan(&old, &dangling)
		if err != nil || old != p.rows || dangling > 0 {
			p.t.Errorf("a program reads %d old rows, and %d notes without their event, %v; want %d and 0",
				old, dangling, err, p.rows)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// continues reports whether programs write more, while a statement waits for a lock.
func (p *programs) continues() bool {
	before := p.writes.Load()
	return check.Soon(func() bool { return p.writes.Load() > before+5 })
}

// check ends the programs, and compares the tables with what they wrote.
func (p *programs) check() {
	p.t.Helper()
	p.stop()
	got := map[string]int{}
	rows := check.Must(p.db.Query(`SELECT what, (SELECT COUNT(*) FROM notes WHERE event_id = events.id)
		FROM events WHERE what NOT LIKE 'old %'`))(p.t)
	defer rows.Close()
	for rows.Next() {
		var what string
		var notes int
		check.OK(p.t, rows.Scan(&what, &notes))
		if got[what] > 0 {
			p.t.Errorf("%s is there twice", what)
		}
		got[what] = notes
	}
	check.OK(p.t, rows.Err())
	for what, notes := range p.want {
		if got[what] != notes {
			p.t.Errorf("%s has %d notes, want %d", what, got[what], notes)
		}
	}
	if len(got) != len(p.want) || len(got) == 0 {
		p.t.Errorf("%d events, want %d, and at least one", len(got), len(p.want))
	}
	p.t.Logf("%d old events and %d of programs", p.rows, len(got))
}
