/**
 * What runs on a host: POSIX `sh` with POSIX tools and `readlink`, as busybox has them. Paths are absolute. A script exits
 * with 0, or with a code of `EXIT_ERRORS`. It prints the mark before its output, a status with the mark after it, on stdout and
 * stderr, and `.` as soon as nothing that it started is left: see `MarkedStream`.
 */

/** Begins each script. Argument: the mark. */
const BEGIN = `
mark=$1
printf '\\000%s\\n' "$mark"
printf '\\000%s\\n' "$mark" >&2
`;

/** Exit codes of scripts: the `errno` name, or the kind of a file that cannot be used. */
export const EXIT_ERRORS: ReadonlyMap<number, string> = new Map([
	[102, "ENOENT"],
	[113, "EACCES"],
	[120, "ENOTDIR"],
	[121, "EISDIR"],
	[140, "ELOOP"],
]);

/** Exit codes of scripts for files that are not regular: their kind. */
export const EXIT_KINDS: ReadonlyMap<number, string> = new Map([
	[131, "a FIFO"],
	[132, "a socket"],
	[133, "a device"],
]);

/** `why PATH`: exits with the reason why a path is not a regular file or a directory. */
const WHY = `
why() {
	[ -p "$1" ] && exit 131
	[ -S "$1" ] && exit 132
	[ -e "$1" ] && exit 133
	p=$1
	while p=\${p%/*}; [ -n "$p" ]; do
		[ -d "$p" ] && { [ -x "$p" ] && exit 102; exit 113; }
		[ -e "$p" ] && exit 120
	done
	exit 102
}
`;

/** `enter PATH`: changes to a directory, or exits with the reason why that is not possible. */
const ENTER = `
enter() {
	cd "$1" 2>/dev/null && return
	[ -d "$1" ] && exit 113
	[ -e "$1" ] && exit 120
	case $1 in /*) why "$1" ;; *) why "$PWD/$1" ;; esac
}
`;

/** `describe PATH`: sets mode, owner, group and size of what a path names, links followed. */
const DESCRIBE = `
describe() {
	set -f
	set -- $(LC_ALL=C ls -ldnL "$1")
	mode=$1 owner=$3 group=$4 size=$5
	set +f
}
`;

/** `follow PATH`: sets \`link\` to the path that a link contains, from the root. */
const FOLLOW = `
follow() {
	link=$(readlink "$1"; printf x)
	link=\${link%?x}
	case $link in /*) ;; *) link=\${1%/*}/$link ;; esac
}
`;

/** `resolve PATH`: sets \`real\` to a path without links, as far as it exists. */
const RESOLVE = `
resolve() {
	at=$1 rest= steps=0
	until [ -d "$at" ] && real=$(cd -P "$at" 2>/dev/null && pwd -P && printf x); do
		steps=$((steps + 1))
		if [ -L "$at" ] && [ $steps -le 200 ]; then follow "$at"; at=$link
		else rest=/\${at##*/}$rest; at=\${at%/*}; at=\${at:-/}
		fi
	done
	real=\${real%?x}
	real=\${real%/}$rest
	real=\${real:-/}
}
`;

/**
 * Begins a script that only reads. Argument: the mark. The status is the exit code. All processes end when the connection does;
 * they have nothing to clean up.
 */
const GUARD = `${BEGIN}
shift
trap 'code=$?; kill -s KILL "$watcher"; printf "\\000%s:%s.\\n" "$mark" "$code"; printf "\\000%s:%s.\\n" "$mark" "$code" >&2' EXIT
exec 3<&0 </dev/null
(
	trap '' TERM HUP INT PIPE
	exec >/dev/null 2>&1
	while read -r _ <&3; do :; done
	# The shell that finds out about the host may lead no group.
	kill -s KILL -- "-$$" || kill -s KILL "$$"
) &
watcher=$!
exec 3<&-
`;

/**
 * Arguments: the mark; the working directory, empty for the present one. Prints facts, each followed by NUL. The last one: empty
 * if the shell leads a process group, `setsid` if it can with that program, `none` if it cannot.
 */
export const PROBE = `${GUARD}${WHY}${ENTER}
case $1 in
	'') ;;
	'~'|'~/'*) enter "$HOME\${1#'~'}" ;;
	*) enter "$1" ;;
esac
for fact in "$(pwd)" "$(pwd -P)" "\${HOME:-/}" "$(cd "\${HOME:-/}" 2>/dev/null && pwd -P)" "\${TMPDIR:-/tmp}" "$(uname -s)" \\
	"$(command -v rg)" "$(command -v bash || echo sh)" \\
	"$(for program in env find xargs awk; do command -v $program >/dev/null || printf '%s ' $program; done)" \\
	"$({ read -r _ _ _ _ group _ </proc/self/stat || group=$(ps -o pgid= -p "$$"); } 2>/dev/null
		[ "$((\${group:-$$}))" = "$$" ] || { command -v setsid >/dev/null && echo setsid || echo none; })"
do printf '%s\\000' "$fact"; done
`;

/** Arguments: the mark, the file, the offset. Prints the size and a newline, then the bytes from the offset on. */
export const READ = `${GUARD}${WHY}${DESCRIBE}
[ -d "$1" ] && exit 121
[ -f "$1" ] || why "$1"
[ -r "$1" ] || exit 113
file=$1 offset=$2
describe "$file"
printf '%s\\n' "$size"
if [ "$offset" -eq 0 ]; then cat "$file"; else tail -c "+$((offset + 1))" "$file"; fi
`;

/** Arguments: the mark, the path. Prints \`d\`, \`f\` or \`o\` and the size. */
export const STAT = `${GUARD}${WHY}${DESCRIBE}
if [ -d "$1" ]; then kind=d; elif [ -f "$1" ]; then kind=f; elif [ -e "$1" ]; then kind=o; else why "$1"; fi
describe "$1"
printf '%s%s' "$kind" "$size"
`;

/**
 * Arguments: the mark, the directory. Prints for each entry its kind (\`d\`, \`f\`, \`o\`, \`l\` for a link, \`L\` for a link to a directory)
 * with its name, and what a link contains, each followed by NUL.
 */
export const LIST = `${GUARD}${WHY}
[ -d "$1" ] || { [ -e "$1" ] && exit 120; why "$1"; }
cd "$1" 2>/dev/null && [ -r . ] || exit 113
for name in .* *; do
	case $name in .|..) continue ;; esac
	target=
	if [ -L "./$name" ]; then
		kind=l; [ -d "./$name" ] && kind=L
		target=$(readlink "./$name"; printf x)
	elif [ -d "./$name" ]; then kind=d
	elif [ -f "./$name" ]; then kind=f
	elif [ -e "./$name" ]; then kind=o
	else continue
	fi
	printf '%s%s\\000%s\\000' "$kind" "$name" "\${target%?x}"
done
`;

/** Arguments: the mark, the path. Prints it without links. */
export const REAL_PATH = `${GUARD}${FOLLOW}${RESOLVE}
resolve "$1"
printf %s "$real"
`;

/**
 * Arguments: the mark, the file, the number of bytes on stdin. Prints \`1\` or \`0\` for a new or an existing file, and its path
 * without links. The bytes go to a temporary file next to it, which replaces it once it is complete: not if the connection was lost.
 * The file is locked meanwhile, so that a later write can remove what a killed one has left; without flock, after a day.
 */
export const WRITE = `${BEGIN}${WHY}${DESCRIBE}${FOLLOW}${RESOLVE}
file=$2 bytes=$3 temporary=
# Reads stdin to its end first: an engine that cannot pass it on would fail, and lose the status.
trap 'code=$?; cat >/dev/null 2>&1; [ -n "$temporary" ] && rm -f "$temporary"; printf "\\000%s:%s.\\n" "$mark" "$code"; printf "\\000%s:%s.\\n" "$mark" "$code" >&2' EXIT
trap 'exit 1' HUP INT TERM PIPE
mkdir -p "\${file%/*}/" || { [ -d "\${file%/*}" ] || why "$file"; exit 1; }
target=$file steps=0
while [ -L "$target" ]; do
	steps=$((steps + 1))
	[ $steps -gt 40 ] && exit 140
	follow "$target"
	target=$link
done
[ -d "$target" ] && exit 121
created=1
if [ -f "$target" ]; then created=0; describe "$target"; elif [ -e "$target" ]; then why "$target"; fi
temporary=\${target%/*}/.pi-$mark.tmp
mask=$(umask)
create() { [ $created = 1 ] || umask 077; set -C; exec 9>"$temporary"; set +C; umask "$mask"; }
create
if command -v flock >/dev/null 2>&1; then
	# Other writes may remove it before it is locked.
	flock 9
	until [ -e "$temporary" ]; do create; flock 9; done
	for left in "\${target%/*}"/.pi-*.tmp; do
		case \${left##*/} in .pi-*-*) continue ;; esac
		# Once it is locked, another file may have its name: that of a write which found its own removed.
		[ "$left" = "$temporary" ] || [ ! -f "$left" ] ||
			(exec 8<"$left" && flock -n 8 && [ "$left" -ef /dev/fd/8 ] && rm -f "$left")
	done
else find "\${target%/*}/." ! -name . -prune -name '.pi-*.tmp' -mtime +0 -exec rm -f {} +
fi 2>/dev/null
cat >&9 || exit 1
wanted=$mode user=$owner others=$group
describe "$temporary"
[ "$size" = "$bytes" ] || exit 1
if [ $created = 0 ]; then
	[ "$owner:$group" = "$user:$others" ] || chown "$user:$others" "$temporary" 2>/dev/null
	chmod "$(printf '%s\\n' "$wanted" |
		sed 's/^.\\(...\\)\\(...\\)\\(...\\).*/u=\\1,g=\\2,o=\\3/; s/-//g; s/s/xs/g; s/S/s/g; s/[tT]/x/g')" "$temporary" || exit 1
fi
mv -f "$temporary" "$target" || exit 1
temporary=
resolve "$target"
printf '%s%s' "$created" "$real"
`;

/**
 * Arguments: the mark, `files` or `lines`, the path, a command that searches. Prints `d` or `f` for a directory or a file, then what
 * the command prints; its last argument is what it searches.
 */
export const SEARCH = `${GUARD}${WHY}
mode=$1 path=$2
shift 2
if [ -d "$path" ]; then
	cd "$path" 2>/dev/null && [ -r . ] || exit 113
	printf d
	"$@" ./
	exit
fi
[ -e "$path" ] && [ "$mode" != lines ] && exit 120
[ -f "$path" ] || why "$path"
[ -r "$path" ] && cd "\${path%/*}/" 2>/dev/null || exit 113
printf f
"$@" "./\${path##*/}"
`;

/**
 * Runs a command whose end the end of the connection causes. Its status is the exit code. Arguments: the mark; the directory; the
 * number of bytes for the command on stdin, which follow the start; \`join\` to send stderr to stdout, \`drain\` to wait also until nothing holds that output, or \`split\`; the command.
 *
 * Everything that the command starts holds descriptor 9, a pipe: its end shows that nothing is left. Until then, \`watcher\` reads
 * the connection, and at its end ends the process group, whose leader this shell is: SIGTERM, a second later SIGKILL.
 */
export const EXEC = `${BEGIN}${WHY}${ENTER}
dir=$2 bytes=$3 streams=$4
shift 4
# bash would read the start file of interactive shells again if it were the first shell of an ssh session.
export SHLVL=1
say() { printf '\\000%s:%s\\n' "$mark" "$1"; }
# In each case stdin is read to its end: an engine that cannot pass it on would fail, and lose the status.
refuse() {
	[ "$bytes" = 0 ] || head -c "$bytes" >/dev/null
	say $1.
	say $1. >&2
	exit
}
(enter "$dir"); code=$?
[ $code = 0 ] && cd "$dir" || refuse "D$code"
command -v "$1" >/dev/null 2>&1 || refuse N
input=/dev/null
if [ "$bytes" != 0 ]; then
	input=\${TMPDIR:-/tmp}/.pi-$mark.in
	head -c "$bytes" | (umask 077; set -C; cat >"$input" || { cat >/dev/null; exit 1; }) || { bytes=0; refuse I; }
fi
exec 3<&0 4>&1 5>&2 6<"$input" </dev/null >/dev/null 2>&1
[ "$bytes" = 0 ] || rm -f "$input"
(
	trap '' TERM HUP INT PIPE
	exec 4>&- 5>&- 6<&-
	while read -r _ <&3; do :; done
	kill -s TERM -- "-$$"
	sleep 1
	kill -s KILL -- "-$$"
) &
watcher=$!
{
	# In a shell of its own: what this one has to say about a signal is no output.
	case $streams in
		drain)
			exec 7>&1
			code=$({
				{ (exec "$@" 9>&7 <&6 2>&1 3<&- 4>&- 5>&- 6<&- 7>&- 8>&-); echo $? >&8; } |
					(trap '' TERM; exec cat >&4 3<&- 5>&- 6<&- 7>&- 8>&-)
			} 8>&1)
			;;
		join) (exec "$@" 9>&1 <&6 >&4 2>&4 3<&- 4>&- 5>&- 6<&-); code=$? ;;
		*) (exec "$@" 9>&1 <&6 >&4 2>&5 3<&- 4>&- 5>&- 6<&-); code=$? ;;
	esac
	say $code >&4
	say $code >&5
} | {
	trap '' TERM
	exec 3<&- 5>&- 6<&-
	while read -r _; do :; done
	kill -s KILL "$watcher"
	say . >&4
} &
exec 3<&- 4>&- 5>&- 6<&-
# Not before the last process has ended: a container's engine reports the end of this shell as the end of all.
trap : TERM
wait $!
wait $!
`;
