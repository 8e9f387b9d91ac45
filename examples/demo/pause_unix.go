//go:build unix

package main

import "syscall"

// pause holds a process where it is, so that what it has begun can be seen before it is killed.
func (p *process) pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// resume lets it go on.
func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
