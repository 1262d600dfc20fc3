import { join } from "node:path";
import { contains, directoriesBetween, distinct, exists, realPath, TEMP_DIRS } from "./files.js";
import { repositoryPaths } from "./repository.js";
import type { SandboxSetup } from "./secrets.js";
import { closeViews, findHidden, hideOthers, openViews } from "./views.js";

/** Directories of sockets of other programs, which the sandbox replaces. */
const RUN_DIRS = ["/run", "/var/run"];
/** What programs need from /run: the system on NixOS, drivers, and the file to which /etc/resolv.conf may link. */
const RUN_NEEDS = ["/run/current-system", "/run/opengl-driver", "/etc/resolv.conf"];

/**
 * The arguments of bwrap, without the command. The file system changes, so that they are computed for each command.
 * @param filter the descriptor of the filter for system calls; null for none
 */
export function sandboxArguments(setup: SandboxSetup, env: NodeJS.ProcessEnv, filter: number | null): string[] {
	const { cwd, homes, state, ripgrep, hasNetwork, hasGit } = setup;
	const temp = join(state, "tmp");
	const { temps, runs, isReplaced } = replacedDirectories();
	const repository = hasGit ? repositoryPaths(cwd).filter((path) => contains(cwd, path) && exists(path)) : [];
	const hidden = findHidden(setup, isReplaced);
	const hiddenInside = [...hidden.names].filter((path) => contains(cwd, path) && exists(path));
	return [
		// Namespaces of its own: no process, socket or shared memory of others. No terminal, no capability, and no new ones.
		...["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--cap-drop", "ALL"],
		...["--new-session", "--die-with-parent", ...(filter === null ? [] : ["--seccomp", String(filter)])],
		...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
		// Root could change the kernel there even without capabilities, such as the program that it starts for a crash.
		...(process.getuid?.() === 0 ? ["--remount-ro", "/proc"] : []),
		...runs.flatMap((dir) => ["--tmpfs", dir]),
		...distinct(
			RUN_NEEDS.map(realPath).filter((path) => exists(path) && runs.some((dir) => contains(dir, path))),
		).flatMap((path) => ["--ro-bind", path, path]),
		...runs.flatMap((dir) => ["--remount-ro", dir]),
		...temps.flatMap((dir) => ["--bind", temp, dir]),
		...homes.filter(isReplaced).flatMap((home) => ["--ro-bind", home, home]),
		...openViews(hidden, setup),
		...(ripgrep !== null && isReplaced(ripgrep) ? ["--ro-bind", ripgrep, ripgrep] : []),
		...["--bind", cwd, cwd],
		// A directory that contains a mount can be renamed, and the next command would find other files there: a mount cannot.
		...distinct([...hiddenInside, ...repository].flatMap((path) => directoriesBetween(cwd, path))).flatMap((dir) => [
			"--bind",
			dir,
			dir,
		]),
		// git runs hooks and commands of its configuration, also when the user or pi only asks for the state of the repository.
		...repository.flatMap((path) => ["--ro-bind", path, path]),
		...hideOthers(hidden, setup),
		...closeViews(hidden),
		...Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
		...["--chdir", cwd],
	];
}

/** Directories of all programs that are others in the sandbox. */
export function replacedDirectories() {
	const temps = distinct(TEMP_DIRS.map(realPath).filter(exists));
	const runs = distinct(RUN_DIRS.map(realPath).filter(exists));
	return { temps, runs, isReplaced: (path: string) => [...temps, ...runs].some((dir) => contains(dir, path)) };
}
