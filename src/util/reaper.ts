import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * Reads `+<group>` and `-<group>` lines; a group may be named twice. At end-of-file, which comes when this program ends in
 * whatever way, the groups still listed are asked to end, given a second, and killed. Signals are ignored so that nothing
 * but that ends it.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r line; do
	case $line in
		+*) case $groups in *" \${line#+} "*) ;; *) groups="$groups\${line#+} " ;; esac ;;
		-*) id=\${line#-}; case $groups in *" $id "*) groups="\${groups%%" $id "*} \${groups#*" $id "}" ;; esac ;;
	esac
done
[ "$groups" = ' ' ] && exit 0
for id in $groups; do kill -s TERM -- "-$id"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
	left=
	for id in $groups; do kill -s 0 -- "-$id" && left=1; done
	[ -z "$left" ] && exit 0
	sleep 0.1 || sleep 1
done
for id in $groups; do kill -s KILL -- "-$id"; done
`;

/**
 * What a shell runs first that was started with `reaperPipe()` as its descriptor 3: it names itself to the helper and
 * closes the pipe, whose end the helper waits for. Without it this program could be killed after it has started the shell
 * and before it has told the helper. Quiet when there is no such descriptor, or nobody at its other end.
 */
export const ANNOUNCE_GROUP = `trap '' PIPE; { echo "+$$" >&3; } 2>/dev/null; trap - PIPE; exec 3>&-; `;

/** Process groups that must not outlive this program. */
const groups = new Set<number>();
let reaper: ChildProcess | undefined;

/**
 * Starts the helper process unless it is there. Called before a program is started, for that takes milliseconds in which
 * this program may be killed: a program that runs already would be left.
 */
export function prepareReaper(): void {
	if (reaper === undefined) startReaper();
}

/** Has a process group killed when this program ends, `kill -9` included. */
export function trackGroup(group: number): void {
	groups.add(group);
	if (reaper === undefined) startReaper();
	else tell(`+${group}\n`);
}

/** Forgets a process group that has ended. */
export function untrackGroup(group: number): void {
	if (groups.delete(group)) tell(`-${group}\n`);
}

/** The groups tracked at this moment. */
export function trackedGroups(): number[] {
	return [...groups];
}

/** True while the helper that outlives this program is there. */
export function hasReaper(): boolean {
	return reaper !== undefined;
}

function startReaper(): void {
	// A session of its own keeps the terminal's signals away; the root directory keeps no mount busy.
	const child = spawn("/bin/sh", ["-c", SCRIPT, "pi-reaper"], {
		detached: true,
		cwd: "/",
		env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
		stdio: ["pipe", "ignore", "ignore"],
	});
	if (child.pid === undefined) {
		child.once("error", () => {}); // no /bin/sh: groups are then killed by exit handlers alone
		return;
	}
	reaper = child;
	const forget = () => {
		// Someone ended the helper; the next group starts another, which is told every group again.
		if (reaper === child) reaper = undefined;
	};
	child.once("exit", forget);
	child.once("error", forget);
	child.stdin?.on("error", forget);
	child.unref();
	if (child.stdin instanceof Socket) child.stdin.unref();
	if (groups.size > 0) tell([...groups].map((group) => `+${group}\n`).join(""));
}

/** The pipe that the helper reads, for a child that announces itself; undefined without a helper. */
export function reaperPipe(): Writable | undefined {
	const pipe = reaper?.stdin;
	return pipe && !pipe.destroyed ? pipe : undefined;
}

/** Small writes to the pipe are made at once by libuv, so they are out even if this program is killed next. */
function tell(lines: string): void {
	reaper?.stdin?.write(lines);
}
