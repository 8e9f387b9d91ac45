//go:build unix && !linux

package main

import "syscall"

// attributes: a group of its own, so that ^C reaches the demo alone, which ends the others in order.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
