package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/plan"
)

func planCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "plan --rate N",
		Short:             "show which formats fit a load, and for how long",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	r := plan.Request{From: time.Now().UTC().Format(time.DateOnly)}
	cmd.Flags().Float64Var(&r.Rate, "rate", 0,
		"how many IDs a second all processes make together, on average: `N`")
	cmd.Flags().Float64Var(&r.Burst, "burst", 0,
		"the most IDs that one process asks for at once: `N` (0: not known)")
	cmd.Flags().IntVar(&r.Processes, "processes", 1,
		"how many processes make IDs at the same time: `N`")
	cmd.Flags().Float64Var(&r.Years, "years", 20, "for how many years: `N`")
	bits := flags.Choose(cmd, "bits", "", "the widest ID that fits the column", "any", "64", "128",
		"any")
	cmd.Flags().BoolVar(&r.Nodes, "can-assign-nodes", false,
		"each process can have its own node ID, from a configuration or leased from a store")
	output := flags.Choose(cmd, "output", "o", "what to print", "table", "table", "json")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("rate") {
			return console.UsageErrorf("plan needs --rate N, the number of IDs a second")
		}
		switch bits.Value {
		case "64":
			r.Bits = 64
		case "128":
			r.Bits = 128
		}
		p, err := plan.Compute(r)
		if err != nil {
			return console.UsageErrorf("--%w", err)
		}
		if output.Value == "json" {
			return json.NewEncoder(c.Out).Encode(p)
		}
		_, err = c.Out.Write(planTable(c, p))
		return err
	}
	return cmd
}

func planTable(c *console.Console, p *plan.Plan) []byte {
	r := p.Request
	processes := "one process"
	if r.Processes > 1 {
		processes = fmt.Sprintf("%d processes", r.Processes)
	}
	var b []byte
	b = append(b, console.Wrap(fmt.Sprintf("%s IDs a second from %s for %s years: %s IDs in all.",
		number(r.Rate), processes, number(r.Years), plan.Count(p.IDs)), c.Width, "")...)
	b = append(b, "\n\n"...)
	const indent = 15
	for _, f := range p.Formats {
		verdict := "fits"
		if !f.Fits {
			verdict = "no"
		}
		b = append(b, c.Paint(console.Strong, fmt.Sprintf("%-9s", f.Format))...)
		b = fmt.Appendf(b, "%-*s", indent-9, verdict)
		text := strings.Join(f.Reasons, "; ")
		if f.Fits {
			text += "; collision: " + plan.Odds(f.Collision)
			if f.Collision > 0 {
				text += fmt.Sprintf(" over %s years", number(r.Years))
			}
		}
		text += fmt.Sprintf("; %s IDs in a tick of %s", plan.Count(f.PerTick), plan.Seconds(f.Tick))
		if r.Burst > 0 {
			text += "; " + burst(f)
		}
		text += fmt.Sprintf("; until %s; %d bytes (%s)", f.Ends[:strings.Index(f.Ends, "-")],
			f.Bytes, f.Column)
		b = append(append(b, c.Hang(text, indent)...), '\n')
	}
	b = append(b, '\n')
	if p.Recommended == "" {
		return append(b, "No format fits. Change one of the numbers.\n"...)
	}
	b = append(b, "Recommended: "...)
	b = append(b, c.Paint(console.Strong, p.Recommended)...)
	return fmt.Appendf(b, "\n  %s\n", p.Command)
}

func burst(f plan.Format) string {
	switch {
	case f.BurstAhead > 0:
		return "a burst runs " + plan.Seconds(f.BurstAhead) + " ahead of the clock"
	case f.BurstWaits > 0:
		return "a burst waits " + plan.Seconds(f.BurstWaits)
	}
	return "a burst goes through at once"
}

// number returns a number in digits, or in words from a million on.
func number(v float64) string {
	if v == math.Trunc(v) && v < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	if v < 1e6 {
		return fmt.Sprintf("%g", v)
	}
	return plan.Count(v)
}
