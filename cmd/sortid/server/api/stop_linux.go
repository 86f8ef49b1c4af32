package api

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// noSYN is a filter of a socket that drops packets with the flag SYN. It gets TCP segments, where
// the flags are at offset 13.
var noSYN = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 2, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 1<<32 - 1},
}

// handshake is how long a client may need to connect after its SYN.
const handshake = 300 * time.Millisecond

// stopConnecting lets nobody connect any more, and waits until all who have connected are accepted.
// If a listener is closed while clients wait to be accepted, the system resets their connections.
// After a dropped SYN, a client tries again a second later, and is refused.
func stopConnecting(l net.Listener, deadline time.Time) {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(noSYN)), Filter: &noSYN[0]})
	})
	if err != nil {
		return // the system has no filters
	}
	for pause := handshake; time.Now().Before(deadline); pause = 10 * time.Millisecond {
		time.Sleep(pause)
		waiting := uint32(0)
		raw.Control(func(fd uintptr) {
			if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP,
				unix.TCP_INFO); err == nil {
				waiting = info.Unacked // of a listener: the connections that wait
			}
		})
		if waiting == 0 {
			return
		}
	}
}
