package faulttest

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestAnswerProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan byte, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 1)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					heard <- buf[0]
					conn.Write(buf)
				}
			}()
		}
	}()
	p := NewAnswerProxy(t, l.Addr().String())
	ask := func(conn net.Conn, b byte) error {
		t.Helper()
		conn.SetDeadline(time.Now().Add(patience))
		conn.Write([]byte{b})
		_, err := io.ReadFull(conn, make([]byte, 1))
		if h := <-heard; h != b {
			t.Fatalf("the server heard %d, want %d", h, b)
		}
		return err
	}
	conn, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.Lose(2)
	if err := ask(conn, 1); err != nil || p.Lost() {
		t.Fatalf("the first answer: %v, lost: %v", err, p.Lost())
	}
	if err := ask(conn, 2); err != io.EOF || !p.Lost() {
		t.Fatalf("the second answer: %v, lost: %v", err, p.Lost())
	}
	again, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := ask(again, 3); err != nil {
		t.Fatal(err)
	}
}
