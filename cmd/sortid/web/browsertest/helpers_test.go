package browsertest

import (
	"math/big"

	"github.com/chromedp/chromedp"
)

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
