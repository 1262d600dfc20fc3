import { join } from "node:path";
import { contains, directoriesBetween, distinct, exists, isDirectory, realPath, TEMP_DIRS } from "./files.js";
import { agentDirs, type SandboxPlace, secretPaths } from "./secrets.js";

/** Directories of sockets of other programs, which the sandbox replaces. */
const RUN_DIRS = ["/run", "/var/run"];
/** What programs need from /run: the system on NixOS, drivers, and the file to which /etc/resolv.conf may link. */
const RUN_NEEDS = ["/run/current-system", "/run/opengl-driver", "/etc/resolv.conf"];

/**
 * The arguments of bwrap for a command. The file system changes, so that they are computed for each command.
 * @param filter the descriptor of the filter for system calls; null for none
 */
export function bubblewrapArguments(
	place: SandboxPlace,
	env: NodeJS.ProcessEnv,
	filter: number | null,
	command: readonly string[],
): string[] {
	const { cwd, homes, state, ripgrep, hasNetwork, hasGit } = place;
	const temp = join(state, "tmp");
	const temps = distinct(TEMP_DIRS.map(realPath).filter(exists));
	const runs = distinct(RUN_DIRS.map(realPath).filter(exists));
	const git = join(cwd, ".git");
	const isReplaced = (path: string) => [...temps, ...runs].some((dir) => contains(dir, path));
	const hidden = hiddenPaths(place, isReplaced);
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
		...(ripgrep !== null && isReplaced(ripgrep) ? ["--ro-bind", ripgrep, ripgrep] : []),
		...["--bind", cwd, cwd],
		// A directory that contains a mount can be renamed, and the next command would find other files there: a mount cannot.
		...distinct(hidden.flatMap((path) => directoriesBetween(cwd, path))).flatMap((dir) => ["--bind", dir, dir]),
		// git runs hooks and commands of its configuration, also when the user or pi only asks for the state of the repository.
		...(hasGit && exists(git) ? ["--ro-bind", git, git] : []),
		...hidden.flatMap((path) => hide(path, place)),
		...Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
		...["--chdir", cwd, "--", "setsid", ...command],
	];
}

/** Arguments of bwrap that hide a path. The model may read the skills in the agent directory. */
function hide(path: string, { env, homes, state }: SandboxPlace): string[] {
	if (!isDirectory(path)) return ["--ro-bind", join(state, "hidden-file"), path];
	const skills = realPath(join(path, "skills"));
	if (!agentDirs(env, homes).includes(path) || !isDirectory(skills)) {
		return ["--ro-bind", join(state, "hidden-dir"), path];
	}
	return ["--tmpfs", path, "--ro-bind", skills, join(path, "skills"), "--remount-ro", path];
}

/** Real paths that exist and that the sandbox hides; none is in another. */
function hiddenPaths(place: SandboxPlace, isReplaced: (path: string) => boolean): string[] {
	const { cwd, homes } = place;
	// Most do not exist: a check is cheaper than the real path.
	const paths = distinct(secretPaths(place).filter(exists).map(realPath)).filter(
		(path) =>
			exists(path) && !contains(path, cwd) && (!isReplaced(path) || [cwd, ...homes].some((dir) => contains(dir, path))),
	);
	return paths.filter((path) => !paths.some((other) => other !== path && contains(other, path)));
}
