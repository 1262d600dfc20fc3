import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * Reads `+<group>` and `-<group>` lines; a group may be listed twice. At end-of-file, which follows any end of pi, sends
 * SIGTERM to the remaining groups and SIGKILL a second later. Ignores signals so that only end-of-file ends it.
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
 * Tries again, for some seconds at most, while the reaper has not read earlier lines: the pipe does not block. SIGPIPE ends
 * the subshell if the reaper is gone.
 */
const RETRY = `{ true >&3 && (trap - PIPE; n=0; until echo "+$$" >&3 || [ $((n += 1)) -gt 300 ]; do sleep 0.01 || sleep 1; done); }`;

/**
 * First command of a shell that was started with `reaperPipe()` as its descriptor 3: registers its group with the reaper
 * and closes the pipe, whose end the reaper waits for. Without it, pi could be killed after starting the shell and before
 * registering it. Prints nothing if the descriptor is missing or the reaper has ended.
 */
export const ANNOUNCE_GROUP = `trap '' PIPE; { echo "+$$" >&3 || ${RETRY}; } 2>/dev/null; trap - PIPE; exec 3>&-; `;

/** Process groups that must not outlive pi. */
const groups = new Set<number>();
let reaper: ChildProcess | undefined;

/**
 * Starts the reaper unless it runs. Call it before starting a program: starting the reaper takes milliseconds in which pi
 * may be killed, and a program that already runs would survive.
 */
export function prepareReaper(): void {
	if (reaper === undefined) startReaper();
}

/** Registers a process group to be killed when pi ends, even by `kill -9`. */
export function trackGroup(group: number): void {
	groups.add(group);
	if (reaper === undefined) startReaper();
	else send(`+${group}\n`);
}

/** Unregisters a process group that has ended. */
export function untrackGroup(group: number): void {
	if (groups.delete(group)) send(`-${group}\n`);
}

/** The registered groups. */
export function trackedGroups(): number[] {
	return [...groups];
}

function startReaper(): void {
	// Its own session protects it from the terminal's signals; the root directory keeps no mount busy.
	const child = spawn("/bin/sh", ["-c", SCRIPT, "pi-reaper"], {
		detached: true,
		cwd: "/",
		env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
		stdio: ["pipe", "ignore", "ignore"],
	});
	if (child.pid === undefined) {
		child.once("error", () => {}); // no /bin/sh: groups that pi does not end itself outlive it
		return;
	}
	reaper = child;
	const forget = () => {
		// The reaper was killed; the next group starts another one and registers every group again.
		if (reaper === child) reaper = undefined;
	};
	child.once("exit", forget);
	child.once("error", forget);
	child.stdin?.on("error", forget);
	child.unref();
	if (child.stdin instanceof Socket) child.stdin.unref();
	if (groups.size > 0) send([...groups].map((group) => `+${group}\n`).join(""));
}

/** The pipe that the reaper reads, for a child that registers itself; undefined without a reaper. */
export function reaperPipe(): Writable | undefined {
	const pipe = reaper?.stdin;
	return pipe && !pipe.destroyed ? pipe : undefined;
}

/** libuv makes small writes to a pipe immediately, so they arrive even if pi is killed next. */
function send(lines: string): void {
	reaper?.stdin?.write(lines);
}
