package browsertest

import (
	"math/big"
	"testing"

	"github.com/chromedp/chromedp"
)

func integer(text string) *big.Int {
	i, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return i
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (tb *tab) click(selector string) {
	tb.Helper()
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}
