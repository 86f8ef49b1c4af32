package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/store/internal/connect"
)

// Schema is the statement that makes the table. In VARBINARY keys, trailing spaces count.
const Schema = `CREATE TABLE sortid_lease (
	realm    VARBINARY(255)  NOT NULL,
	block    VARBINARY(16)   NOT NULL,
	revision BIGINT UNSIGNED NOT NULL,
	hwm      BIGINT          NOT NULL,
	record   TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	gets     BIGINT UNSIGNED NOT NULL DEFAULT 0,
	PRIMARY KEY (realm, block)
) ENGINE=InnoDB`

// PRI marks the primary key.
const columns = "realm varbinary PRI, block varbinary PRI, revision bigint, hwm bigint, " +
	"record text, gets bigint"

// Errors: https://mariadb.com/kb/en/mariadb-error-code-reference/
const (
	numberTooManyConnections  = 1040
	numberNoDatabasePrivilege = 1044
	numberNoLogin             = 1045
	numberNoDatabase          = 1049
	numberDuplicate           = 1062
	numberShutdown            = 1053
	numberNoPrivilege         = 1142
	numberTooManyOfUser       = 1203
	numberDeadlock            = 1213
	numberLimitOfUser         = 1226
	numberKilled              = 1927
)

func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func (s *Store) prepare(ctx context.Context, config *mysql.Config, create bool) error {
	settings, err := s.settings(ctx)
	if err != nil {
		return err
	}
	if s.conditions, err = inspect(settings); err != nil {
		return err
	}
	if on(settings["wsrep_on"]) {
		s.galera = true
		s.db.Close()
		if err := s.connect(config, slices.Concat(session, galera)); err != nil {
			return err
		}
	}
	table, err := s.find(ctx)
	if err == nil && table.columns == "" && !create {
		return connect.Missing(errors.New("there is no table sortid_lease that this user may use"))
	}
	if err == nil && table.columns == "" {
		if err = s.create(ctx); err == nil {
			table, err = s.find(ctx)
		}
	}
	if err != nil {
		return err
	}
	connected, _ := strconv.Atoi(settings["Slaves_connected"])
	if n := max(table.replicas, connected); n > 0 {
		s.conditions = append(s.conditions, fmt.Sprintf("conditional: the server has replicas "+
			"(connected: %d). A replica that becomes the primary may lack changes: then fence "+
			"all realms before processes use the new primary", n))
	}
	return s.checkTable(ctx, table)
}

func lost(err error) bool {
	return number(err) == numberShutdown || number(err) == numberKilled ||
		slices.ContainsFunc([]error{mysql.ErrInvalidConn, driver.ErrBadConn, mysql.ErrMalformPkt,
			mysql.ErrPktSync, sql.ErrConnDone}, func(e error) bool { return errors.Is(err, e) })
}

func explained(err error) error {
	hint, dial := "", (*net.OpError)(nil)
	switch n := number(err); {
	case lost(err):
		return connect.Temporary(err)
	case n == numberNoLogin:
		hint = "check user and password"
	case n == numberNoDatabase:
		hint = "CREATE DATABASE, or correct the name in the URL"
	case n == numberNoDatabasePrivilege:
		hint = "GRANT SELECT, INSERT, UPDATE on the table, and CREATE if it does not exist"
	case errors.As(err, &dial) && dial.Op == "dial":
		hint = "does the server run, and is this its address?"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, hint)
}

func (s *Store) settings(ctx context.Context) (map[string]string, error) {
	settings := map[string]string{}
	for _, query := range []string{
		`SHOW GLOBAL VARIABLES WHERE Variable_name IN (
			'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_doublewrite',
			'version', 'version_comment', 'log_bin', 'sync_binlog', 'read_only', 'wsrep_on', 'group_replication_group_name',
			'group_replication_consistency')`,
		"SHOW GLOBAL STATUS WHERE Variable_name IN ('Slaves_connected', 'Innodb_redo_log_enabled')",
	} {
		err := s.rows(ctx, func(scan func(...any) error) error {
			var name, value string
			err := scan(&name, &value)
			settings[name] = value
			return err
		}, query)
		if err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func on(value string) bool { return strings.EqualFold(value, "ON") || value == "1" }

// inspect returns the conditions that follow from a server's settings, or [lease.ErrUnsafe].
// Settings that the server does not know are missing.
func inspect(settings map[string]string) (conditions []string, err error) {
	unsafe := func(name, want, how string) error {
		return connect.Unsafe("%s is %s, it must be %s: %s", name, settings[name], want, how)
	}
	if conditions, err = engine(settings["version"], settings["version_comment"]); err != nil {
		return nil, err
	}
	method := strings.ToLower(settings["innodb_flush_method"])
	switch flush := settings["innodb_flush_log_at_trx_commit"]; {
	case flush != "1" && flush != "3": // MariaDB also has 3, which syncs more often than 1
		return nil, unsafe("innodb_flush_log_at_trx_commit", "1",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in the server's "+
				"configuration")
	case on(settings["log_bin"]) && settings["sync_binlog"] != "1":
		return nil, unsafe("sync_binlog", "1",
			"SET GLOBAL sync_binlog = 1, and the same in the server's configuration")
	case strings.HasSuffix(method, "nosync") || method == "littlesync":
		return nil, unsafe("innodb_flush_method", "one that syncs",
			"remove it from the server's configuration")
	case strings.EqualFold(settings["Innodb_redo_log_enabled"], "OFF"):
		return nil, unsafe("Innodb_redo_log_enabled", "ON", "ALTER INSTANCE ENABLE INNODB REDO_LOG")
	case !writable(settings["read_only"]):
		return nil, errReplica
	}
	if d := settings["innodb_doublewrite"]; strings.EqualFold(d, "OFF") ||
		strings.EqualFold(d, "DETECT_ONLY") {
		conditions = append(conditions, "conditional: innodb_doublewrite is "+d+
			". The file system must write pages as a whole or not at all, as ZFS does; "+
			"otherwise a power failure can damage the table")
	}
	if on(settings["wsrep_on"]) {
		conditions = append(conditions, "conditional: the server is a node of a Galera cluster. "+
			"If all nodes have been down, start the cluster from the node with the latest state "+
			"(safe_to_bootstrap: 1), or fence all realms before processes use the cluster")
	}
	if settings["group_replication_group_name"] != "" &&
		strings.EqualFold(settings["group_replication_consistency"], "EVENTUAL") {
		conditions = append(conditions, "conditional: the server is a member of a replication "+
			"group whose group_replication_consistency is EVENTUAL. A new primary may then answer "+
			"before it has all changes: set it to BEFORE_ON_PRIMARY_FAILOVER")
	}
	return conditions, nil
}

// engine returns the conditions that follow from what a server says of itself, or
// [lease.ErrUnsafe].
func engine(version, comment string) (conditions []string, err error) {
	switch {
	case strings.Contains(version, "-TiDB-"):
		return nil, connect.Unsafe("the server is TiDB, version %q. It shows the same values of "+
			"innodb_flush_log_at_trx_commit, innodb_doublewrite and read_only whatever it does, "+
			"so this store cannot see what is safe: use MariaDB", version)
	case !strings.Contains(version, "MariaDB"):
		return []string{connect.NotTested(version+" "+comment, "MariaDB")}, nil
	}
	return nil, nil
}

var errReplica = connect.Unsafe("the server is read_only, like a replica, but must be the " +
	"primary: put the primary in the URL, or SET GLOBAL read_only = OFF if this is the primary")

// writable reports whether read_only is off. MariaDB 12 has several values that mean on.
func writable(readOnly string) bool {
	return readOnly == "0" || strings.EqualFold(readOnly, "OFF")
}

func (s *Store) checkTable(ctx context.Context, is table) error {
	if is.columns != columns {
		return fmt.Errorf("sortid_lease is not the table for leases: it needs the columns (%s), "+
			"and of these it has: %s; rename the table, or use another database", columns,
			cmp.Or(is.columns, "none"))
	}
	if is.engine != "InnoDB" {
		return connect.Unsafe("the table sortid_lease is of the engine %q, it must be InnoDB: "+
			"ALTER TABLE sortid_lease ENGINE=InnoDB", is.engine)
	}
	// The server prepares this statement only if the user may insert, update and select.
	err := s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
		prepared, err := conn.PrepareContext(ctx, insertStatement+
			" ON DUPLICATE KEY UPDATE hwm = hwm + 1")
		if err == nil {
			err = prepared.Close()
		}
		return err
	})
	if number(err) == numberNoPrivilege {
		return fmt.Errorf("%w: GRANT SELECT, INSERT, UPDATE ON sortid_lease", err)
	}
	return err
}

type table struct {
	engine   string
	columns  string // the needed columns and the primary key; "" if the user sees no table
	replicas int    // how many; also 0 if the user lacks the privilege PROCESS
}

func (s *Store) find(ctx context.Context) (t table, err error) {
	var engine, columns sql.NullString
	// Each subquery has the table's name as a constant. Otherwise the server would read all tables.
	err = s.rows(ctx, func(scan func(...any) error) error {
		return scan(&t.replicas, &engine, &columns)
	}, `SELECT
			(SELECT COUNT(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'),
			(SELECT engine FROM information_schema.tables
				WHERE table_schema = ? AND table_name = 'sortid_lease'),
			GROUP_CONCAT(CONCAT_WS(' ', column_name, data_type, NULLIF(column_key, ''))
				ORDER BY ordinal_position SEPARATOR ', ')
		FROM information_schema.columns WHERE table_schema = ? AND table_name = 'sortid_lease'
			AND (column_name IN ('realm', 'block', 'revision', 'hwm', 'record', 'gets')
				OR column_key = 'PRI')`,
		s.database, s.database)
	t.engine, t.columns = engine.String, columns.String
	return t, err
}

func (s *Store) create(ctx context.Context) error {
	err := s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, strings.Replace(Schema, "TABLE", "TABLE IF NOT EXISTS", 1))
		return err
	})
	switch {
	case err == nil:
		return nil
	case number(err) == numberNoPrivilege:
		err = fmt.Errorf("%w: somebody who may create tables must run\n%s;\nand GRANT SELECT, "+
			"INSERT, UPDATE ON sortid_lease to this user", err, Schema)
	}
	return fmt.Errorf("cannot make the table: %w", err)
}
