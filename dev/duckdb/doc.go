// Package duckdb tests the macros of "sortid sql duckdb" on DuckDB, which needs a C compiler.
package duckdb
