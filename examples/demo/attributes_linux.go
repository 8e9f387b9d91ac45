package main

import "syscall"

// attributes: a group of its own, so that ^C reaches the demo alone, which ends the others in order; and the kernel kills
// them if the demo itself is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
