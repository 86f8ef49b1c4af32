# until.sh COMMAND [PATTERN] waits until a command succeeds and its output matches.
for i in $(seq 1200); do
	if said=$(sh -c "$1" 2> /dev/null) && echo "$said" | grep -q -e "$2"; then
		exit 0
	fi
	sleep 0.1
done
echo "never: $1 $2; the last output: $said" >&2
exit 1
