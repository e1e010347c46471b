// Package tally is what the Go programs of bench/peers have in common: their variables, and the count that they print.
// Both are described in README.md beside this folder.
package tally

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var (
	lock              sync.Mutex
	count, bytes, sum uint64
	wanted, warm      = uint64(Number("PEERS_RECORDS")), uint64(Number("PEERS_WARM"))
)

// Text ends the program when the variable is not set.
func Text(name string) string {
	value := os.Getenv(name)
	if value == "" {
		Fail(name, fmt.Errorf("not set"))
	}
	return value
}

// Number is 0 for a variable that is not set.
func Number(name string) int {
	value, _ := strconv.Atoi(os.Getenv(name))
	return value
}

// Poll is the time between two reads of a shard that had nothing.
func Poll() time.Duration { return time.Duration(Number("PEERS_POLL_MS")) * time.Millisecond }

// Fail ends the program.
func Fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}

func say(mark string) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		Fail("getrusage", err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	fmt.Printf("%s %.6f %d %d %d\n", mark, cpu.Seconds(), count, bytes, sum)
}

// Page counts some records at once.
func Page(n int, data func(i int) []byte) {
	lock.Lock()
	defer lock.Unlock()
	before := count
	for i := range n {
		one := data(i)
		bytes += uint64(len(one))
		sum += uint64(binary.LittleEndian.Uint32(one)) + 1000000*uint64(binary.LittleEndian.Uint32(one[8:]))
	}
	count += uint64(n)
	if before == 0 && n > 0 {
		say("first")
	}
	if before < warm && count >= warm {
		say("warm")
	}
	if wanted > 0 && count >= wanted {
		say("done")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
}

// Client keeps a connection for each shard: with the SDKs' own (10 idle ones of a host in v2, 2 in v1) shards that are asked
// at once would pay for a handshake each time.
func Client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &http.Client{Transport: transport}
}
