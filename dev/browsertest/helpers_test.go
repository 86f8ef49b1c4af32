package browsertest

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/chromedp/chromedp"
)

func decode[T any](t testing.TB, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func integer(text string) *big.Int {
	i, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return i
}

func (tb *tab) click(selector string) {
	tb.Helper()
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}
