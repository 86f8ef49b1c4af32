module github.com/sortid/sortid/testserver

go 1.26.0
