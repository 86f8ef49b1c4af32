//go:build !purego

#include "textflag.h"

// func Counter() uint64
TEXT ·Counter(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func steady() bool
TEXT ·steady(SB), NOSPLIT, $0-1
	MOVL  $0x80000000, AX // the highest extended function
	CPUID
	MOVB  $0, ret+0(FP)
	CMPL  AX, $0x80000007
	JLO   done
	MOVL  $0x80000007, AX // advanced power management
	CPUID
	SHRL  $8, DX          // bit 8: the counter runs at one rate in all states
	ANDL  $1, DX
	MOVB  DX, ret+0(FP)
done:
	RET
