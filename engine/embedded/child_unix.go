//go:build unix && !linux

package embedded

import "syscall"

// childAttributes: without Linux's death signal a child may outlive a killed supervisor. The lock that it inherited
// then keeps the directory from being opened twice.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
