//go:build !unix

package main

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }

// pause does nothing here: what was begun is looked at while it goes on.
func (p *process) pause() error { return nil }

func (p *process) resume() error { return nil }
