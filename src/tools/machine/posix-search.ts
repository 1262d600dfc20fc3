import { parseGlob } from "../glob.js";
import type { LinePattern, SearchRequest } from "./machine.js";

/**
 * Argument: `./`, or a file. For a directory it first prints one letter. `g`: nothing that ignore files exclude was searched, because
 * git listed the files, or because there are no ignore files. `a`: all files were searched although there are ignore files, because
 * git is missing, this is no repository, or the directory is ignored itself.
 */
const SEARCH = `
ignores() {
	find . -name .git -prune -o -type f \\( -name .gitignore -o -name .ignore \\) -print | { read -r _; } && return
	above=$PWD
	while above=\${above%/*}; [ -n "$above" ]; do
		[ -e "$above/.gitignore" ] || [ -e "$above/.ignore" ] || continue
		return
	done
	return 1
}
if [ "$1" != ./ ]; then set -- "$1"; eval "$PI_RUN"
elif [ "$(git rev-parse --is-inside-work-tree 2>/dev/null)" = true ] && ! git -c core.fsmonitor=false check-ignore -q .; then
	printf g
	sh -c "$PI_LIST" sh | xargs -0 sh -c "$PI_RUN" sh
else
	if ignores; then printf a; else printf g; fi
	find . -name .git -prune -o -type f -exec sh -c "$PI_RUN" sh {} +
fi
`;

/**
 * Prints the files of a repository, and those of repositories in it, without running what their configuration names. Argument: its
 * directory with \`/\`; none for the present one.
 */
const LIST = `
git -C "./$1" -c core.fsmonitor=false ls-files -z --cached --others --exclude-standard | xargs -0 sh -c '
	directory=$1
	shift
	for file do
		file=$directory$file
		if [ -L "$file" ]; then :
		elif [ -f "$file" ]; then printf "%s\\000" "$file"
		elif [ -e "$file/.git" ]; then sh -c "$PI_LIST" sh "\${file%/}/"
		fi
	done
' sh "$1"
`;

/** Prints the files among the arguments. */
const PRINT_NAMES = `for file do printf '%s\\000' "$file"; done`;

const PRINT_LINES = `exec awk "$PI_PROGRAM" "$@"`;

/**
 * Prints the lines that match, and those around them: the file, \\001, the number, `:` or `-`, the text. Not of binary files: awk
 * may not see NUL, so that a file with a match is asked for it.
 */
const PROGRAM = `
function show(mark, at, line) {
	printf "%s\\001%d%s%s\\n", file, at, mark, substr(line, 1, columns)
	shown = at
}
function isBinary(command, count) {
	command = file
	gsub(/\\047/, "\\047\\134\\047\\047", command)
	command = "head -c 65536 < \\047" command "\\047 | tr -dc \\047\\\\000\\047 | wc -c"
	command | getline count
	close(command)
	return count > 0
}
BEGIN {
	pattern = ENVIRON["PI_PATTERN"]; kind = ENVIRON["PI_KIND"]
	before = ENVIRON["PI_BEFORE"] + 0; following = ENVIRON["PI_AFTER"] + 0; columns = ENVIRON["PI_COLUMNS"] + 0
	plain = kind ~ /f/; folds = kind ~ /i/
	if (folds) pattern = tolower(pattern)
	for (argument = 1; argument < ARGC; argument++) {
		file = ARGV[argument]
		number = 0; after = 0; shown = 0
		# An unreadable file has no lines; one with control characters is no text.
		while ((getline line < file) > 0 && line !~ /[\\001-\\010\\016-\\032]/) {
			number++
			sub(/\\r$/, "", line)
			text = folds ? tolower(line) : line
			if (plain ? index(text, pattern) > 0 : text ~ pattern) {
				if (shown == 0 && isBinary()) break
				for (at = number - before; at < number; at++) if (at > shown) show("-", at, lines[at])
				show(":", number, line)
				after = following
			} else if (after > 0) { after--; show("-", number, line) }
			if (before > 0) { lines[number] = line; delete lines[number - before] }
		}
		close(file)
	}
}
`;

/**
 * The command of a search with POSIX tools, whose last argument follows.
 * @param host its name, and which of `env`, `find`, `xargs` and `awk` it lacks
 * @returns a problem as text if it needs more than the host has
 */
export function posixSearch(
	{ lines }: SearchRequest,
	{ name: host, missing }: { name: string; missing: readonly string[] },
): string[] | string {
	const lacking = missing.filter((program) => lines !== undefined || program !== "awk");
	if (lacking.length > 0) {
		const are = lacking.length === 1 ? "is" : "are";
		return `Cannot search on ${host}: ripgrep is not installed there, and ${lacking.join(" and ")}, used without it, ${are} missing too. Use bash with the tools that it has.`;
	}
	const run = lines ? PRINT_LINES : PRINT_NAMES;
	const start = ["env", `PI_RUN=${run}`, `PI_LIST=${LIST}`];
	const end = ["sh", "-c", SEARCH, "sh"];
	if (!lines) return [...start, ...end];
	const pattern = lines.literal ? lines.pattern : toExtended(lines, host);
	if (typeof pattern !== "string") return pattern.problem;
	return [
		...start,
		`PI_PROGRAM=${PROGRAM}`,
		`PI_PATTERN=${pattern}`,
		`PI_KIND=${lines.literal ? "f" : ""}${lines.ignoreCase ? "i" : ""}`,
		`PI_BEFORE=${lines.before}`,
		`PI_AFTER=${lines.after}`,
		`PI_COLUMNS=${lines.maxColumns * 2}`,
		...end,
	];
}

/** The same request that drops what ripgrep would not search. */
export function withFilters(request: SearchRequest): SearchRequest {
	const { names, exclude, onFile, onLine } = request;
	const wanted = names?.map(parseGlob);
	const unwanted = exclude === undefined ? undefined : parseGlob(exclude);
	const isIncluded = (path: string) =>
		path === "" || ((wanted?.some((glob) => glob.matches(path)) ?? true) && unwanted?.matches(path) !== true);
	return {
		...request,
		onFile: (path) => !isIncluded(path) || (onFile?.(path) ?? true),
		onLine: (line) => !isIncluded(line.path) || (onLine?.(line) ?? true),
	};
}

/** Classes of ripgrep that POSIX writes differently. */
const CLASSES: Readonly<Record<string, [outside: string, inside: string]>> = {
	d: ["[0-9]", "0-9"],
	w: ["[[:alnum:]_]", "[:alnum:]_"],
	s: ["[[:space:]]", "[:space:]"],
	t: ["\t", "\t"],
};

/** A regular expression as POSIX tools understand it. */
function toExtended({ pattern }: LinePattern, host: string): string | { problem: string } {
	try {
		new RegExp(pattern);
	} catch (error) {
		const reason = error instanceof Error ? error.message.replace(/^.*\/: /, "") : "syntax error";
		return {
			problem: `The pattern is not a valid regular expression: ${reason}. Escape special characters with \\, or set literal to true.`,
		};
	}
	let result = "";
	let isClass = false;
	for (let at = 0; at < pattern.length; at++) {
		const character = pattern[at] ?? "";
		const next = pattern[at + 1] ?? "";
		if (character === "\\") {
			at++;
			const known = CLASSES[next];
			if (known) result += known[isClass ? 1 : 0];
			else if (/[a-zA-Z0-9\n]/.test(next)) return unsupported(`\\${next === "\n" ? "n" : next}`, host);
			else result += isClass && next !== "\\" ? next : `\\${next}`;
		} else if (character === "\n") return unsupported("line breaks", host);
		else if (!isClass && character === "(" && next === "?") {
			if (pattern[at + 2] !== ":") return unsupported(`(?${pattern[at + 2] ?? ""}`, host);
			result += "(";
			at += 2;
		} else if (!isClass && /[*+?}]/.test(character) && (next === "?" || next === "+")) {
			return unsupported(`${character}${next}`, host);
		} else {
			if (character === "[") isClass = true;
			else if (character === "]") isClass = false;
			result += character;
		}
	}
	return result;
}

function unsupported(construct: string, host: string): { problem: string } {
	return {
		problem: `ripgrep is not installed on ${host}, and without it grep does not support ${construct} in a pattern. Use a simpler pattern, or bash.`,
	};
}
