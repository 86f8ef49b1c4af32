// Command floor shows how fast a command of sortid could be. It reads scru128 IDs from standard
// input, one in a line, and does the work with package scru128. It knows the format, reports no
// errors, and prints the same bytes.
//
//	floor text|hex|int|uuid|time|short|json [END]
package main

import (
	"bufio"
	"encoding/hex"
	"log"
	"math/bits"
	"os"
	"strconv"
	"time"

	"github.com/sortid/sortid/scru128"
)

// end is the end of a JSON object, which is the same for all IDs.
var end string

var outputs = map[string]func(b []byte, id scru128.ID, text string) []byte{
	"text":  appendText,
	"hex":   func(b []byte, id scru128.ID, _ string) []byte { return hex.AppendEncode(b, id[:]) },
	"int":   func(b []byte, id scru128.ID, _ string) []byte { return appendInt(b, id) },
	"uuid":  func(b []byte, id scru128.ID, _ string) []byte { return appendUUID(b, id) },
	"time":  func(b []byte, id scru128.ID, _ string) []byte { return appendTime(b, id) },
	"short": appendShort,
	"json":  appendJSON,
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || outputs[os.Args[1]] == nil {
		log.Fatal("usage: floor text|hex|int|uuid|time|short|json [END]")
	}
	output := outputs[os.Args[1]]
	if len(os.Args) > 2 {
		end = os.Args[2]
	}
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 64<<10), 64<<10)
	for lines.Scan() {
		text := lines.Text()
		id, err := scru128.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		out.Write(append(output(out.AvailableBuffer(), id, text), '\n'))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func appendText(b []byte, id scru128.ID, _ string) []byte {
	b, _ = id.AppendText(b)
	return b
}

// appendInt appends a decimal integer of 20 to 38 digits. The IDs of many centuries have so many.
func appendInt(b []byte, id scru128.ID) []byte {
	high, low := id.Uint128()
	high, low = bits.Div64(high, low, 1e19)
	return appendPadded(strconv.AppendUint(b, high, 10), low, 19)
}

// appendPadded appends v in decimal, with zeros before it to make width digits.
func appendPadded(b []byte, v uint64, width int) []byte {
	b = append(b, "0000000000000000000"[:width]...)
	for i := len(b) - 1; v > 0; i-- {
		b[i] = byte('0' + v%10)
		v /= 10
	}
	return b
}

func appendUUID(b []byte, id scru128.ID) []byte {
	for i, end := range []int{4, 6, 8, 10, 16} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, id[[]int{0, 4, 6, 8, 10}[i]:end])
	}
	return b
}

// appendTime appends the time in UTC to the millisecond.
func appendTime(b []byte, id scru128.ID) []byte {
	t := id.Time().UTC()
	b = t.AppendFormat(b, time.DateTime)
	b[len(b)-9] = 'T'
	b = append(b, '.')
	return append(appendPadded(b, uint64(t.Nanosecond()/1e6), 3), 'Z')
}

var names = [...]string{"timestamp", "counter_hi", "counter_lo", "entropy"}

func fields(id scru128.ID) [4]uint64 {
	return [4]uint64{id.Timestamp(), uint64(id.CounterHi()), uint64(id.CounterLo()),
		uint64(id.Entropy())}
}

func appendShort(b []byte, id scru128.ID, _ string) []byte {
	b = append(appendTime(b, id), " scru128"...)
	for i, v := range fields(id) {
		b = append(append(append(b, ' '), names[i]...), '=')
		b = strconv.AppendUint(b, v, 10)
	}
	return b
}

func appendJSON(b []byte, id scru128.ID, text string) []byte {
	b = append(b, `{"format":"scru128","text":"`...)
	b = appendText(b, id, "")
	b = hex.AppendEncode(append(b, `","hex":"`...), id[:])
	b = appendInt(append(b, `","int":"`...), id)
	b = appendUUID(append(b, `","uuid":"`...), id)
	b = appendTime(append(b, `","time":"`...), id)
	b = append(b, `","fields":{`...)
	for i, v := range fields(id) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), names[i]...), `":"`...)
		b = append(strconv.AppendUint(b, v, 10), '"')
	}
	return append(append(append(b, `},"input":"`...), text...), end...)
}
