#include "textflag.h"

// System calls and their constants, of linux/amd64.
#define SYS_read 0
#define SYS_close 3
#define SYS_sendto 44
#define SYS_sendmsg 46
#define SYS_execve 59
#define SYS_fcntl 72
#define SYS_prctl 157
#define SYS_exit_group 231
#define SYS_seccomp 317
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446

#define F_SETFD 2
#define FD_CLOEXEC 1
#define MSG_NOSIGNAL 0x4000
#define PR_SET_NO_NEW_PRIVS 38
#define SECCOMP_SET_MODE_FILTER 1
#define NEW_LISTENER 0x8
#define WAIT_KILLABLE 0x20
#define ENOENT 2
#define ENOEXEC 8
#define ENOTDIR 20
#define EINVAL 22

// The kernel enters here: the stack has argc, the arguments, a nil, the environment and a nil.
//
// func Entry()
TEXT ·Entry(SB),NOSPLIT|NOFRAME,$0-0
	CMPQ 0(SP), $6               // PROGRAM confine FD FILE -- COMMAND
	JLT  other
	MOVQ 8(SP), SI
	MOVQ ·program+0(SB), DI
	MOVQ ·program+8(SB), CX
	CLD
	REP; CMPSB                   // ends with the first difference
	JNE  other
	MOVQ 16(SP), SI
	MOVQ ·command+0(SB), DI
	MOVQ ·command+8(SB), CX
	REP; CMPSB
	JNE  other
	JMP  ·confine(SB)
other:
	JMP  _rt0_amd64_linux(SB)

// confine uses, besides the registers of system calls:
//
//	R12 the arguments, R13 the environment, R15 the socket, R14 the message's length, then the next file,
//	R9 a descriptor, then the place of "--"; BX the memory of calls.
TEXT ·confine(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ 8(SP), R12
	MOVQ 0(SP), AX
	LEAQ 8(R12)(AX*8), R13
	LEAQ ·scratch(SB), BX

	MOVQ 16(R12), SI             // the number of the socket
	XORQ R15, R15
digit:
	MOVBLZX (SI), CX
	SUBL $'0', CX
	CMPL CX, $9
	JHI  number
	IMULQ $10, R15
	ADDQ CX, R15
	INCQ SI
	JMP  digit
number:
	CMPQ R15, $2
	JLE  exit                    // a standard stream

	MOVQ $SYS_fcntl, AX
	MOVQ R15, DI
	MOVQ $F_SETFD, SI
	MOVQ $FD_CLOEXEC, DX
	SYSCALL

	MOVQ $SYS_read, AX
	MOVQ R15, DI
	LEAQ ·message(SB), SI
	MOVQ $65536, DX
	SYSCALL
	MOVL $1, CX
	CMPQ AX, $16                 // the rights and one instruction
	JLT  failed
	MOVQ AX, R14

	MOVQ $SYS_prctl, AX
	MOVQ $PR_SET_NO_NEW_PRIVS, DI
	MOVQ $1, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	SYSCALL
	MOVL $2, CX
	TESTQ AX, AX
	JNE  failed

	MOVQ $SYS_landlock_create_ruleset, AX
	LEAQ ·message(SB), DI
	MOVQ $8, SI
	XORL DX, DX
	SYSCALL
	MOVL $2, CX
	TESTQ AX, AX
	JLT  failed
	MOVQ AX, R9
	MOVQ $SYS_landlock_restrict_self, AX
	MOVQ R9, DI
	XORL SI, SI
	SYSCALL
	MOVL $2, CX
	TESTQ AX, AX
	JNE  failed
	MOVQ $SYS_close, AX
	MOVQ R9, DI
	SYSCALL

	SHRQ $3, R14                 // struct sock_fprog
	DECQ R14
	MOVW R14, 0(BX)
	LEAQ ·message+8(SB), AX
	MOVQ AX, 8(BX)
	MOVQ $(NEW_LISTENER|WAIT_KILLABLE), SI
listen:
	MOVQ $SYS_seccomp, AX
	MOVQ $SECCOMP_SET_MODE_FILTER, DI
	MOVQ BX, DX
	SYSCALL
	CMPQ AX, $-EINVAL
	JNE  listening
	CMPQ SI, $NEW_LISTENER
	JE   listening
	MOVQ $NEW_LISTENER, SI       // Linux before 5.19
	JMP  listen
listening:
	MOVL $3, CX
	TESTQ AX, AX
	JLT  failed
	MOVQ AX, R9

	LEAQ 120(BX), AX             // struct iovec: one byte
	MOVQ AX, 16(BX)
	MOVQ $1, 24(BX)
	MOVQ $20, 32(BX)             // struct cmsghdr: SCM_RIGHTS of SOL_SOCKET
	MOVL $1, 40(BX)
	MOVL $1, 44(BX)
	MOVL R9, 48(BX)
	LEAQ 16(BX), AX              // struct msghdr
	MOVQ AX, 72(BX)
	MOVQ $1, 80(BX)
	LEAQ 32(BX), AX
	MOVQ AX, 88(BX)
	MOVQ $24, 96(BX)
	MOVQ $SYS_sendmsg, AX
	MOVQ R15, DI
	LEAQ 56(BX), SI
	MOVQ $MSG_NOSIGNAL, DX
	SYSCALL
	MOVL $4, CX
	CMPQ AX, $1
	JNE  failed
	MOVQ $SYS_close, AX
	MOVQ R9, DI
	SYSCALL

	LEAQ 24(R12), R14
	MOVQ R14, R9
end:
	MOVQ (R9), SI
	TESTQ SI, SI
	JEQ  invalid
	CMPW (SI), $0x2d2d           // "--"
	JNE  next
	CMPB 2(SI), $0
	JEQ  found
next:
	ADDQ $8, R9
	JMP  end
found:
	MOVQ $ENOENT, R8
	CMPQ 8(R9), $0
	JNE  try
invalid:
	MOVQ $EINVAL, R8
	JMP  unexecuted

try:
	CMPQ R14, R9
	JEQ  unexecuted
	MOVQ $SYS_execve, AX
	MOVQ (R14), DI
	LEAQ 8(R9), SI
	MOVQ R13, DX
	SYSCALL
	CMPQ AX, $-ENOEXEC
	JNE  tried
	MOVQ 8(R9), R10              // a text without #!: sh FILE ARGUMENT...
	MOVQ ·shellName+0(SB), AX
	MOVQ AX, (R9)
	MOVQ (R14), AX
	MOVQ AX, 8(R9)
	MOVQ $SYS_execve, AX
	MOVQ ·shell+0(SB), DI
	MOVQ R9, SI
	SYSCALL
	MOVQ R10, 8(R9)
tried:
	ADDQ $8, R14
	CMPQ AX, $-ENOENT
	JEQ  try
	CMPQ AX, $-ENOTDIR
	JEQ  try
	NEGQ AX
	MOVQ AX, R8                  // of a file that exists
	JMP  try
unexecuted:
	MOVQ R8, AX
	NEGQ AX
	MOVL $5, CX

failed:                          // CX is the step, AX the negative error number
	NEGQ AX
	MOVL CX, 0(BX)
	MOVL AX, 4(BX)
	MOVQ $SYS_sendto, AX
	MOVQ R15, DI
	MOVQ BX, SI
	MOVQ $8, DX
	MOVQ $MSG_NOSIGNAL, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
exit:
	MOVQ $SYS_exit_group, AX
	MOVQ $125, DI
	SYSCALL
	INT  $3
