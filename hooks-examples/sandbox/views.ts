import { type Dirent, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { contains, directoriesBetween, distinct, exists, isDirectory, realPath } from "./files.js";
import { agentDirs, type SandboxSetup, secretPaths, systemSecrets } from "./secrets.js";

/** Directories with more entries are not replaced: each entry takes a mount. */
const MAX_ENTRIES = 400;

/** What the sandbox hides. All are real paths. */
export interface Hidden {
	/** Names that no program in the sandbox sees, whether or not they exist; none is in another. */
	names: ReadonlySet<string>;
	/**
	 * The directories of these names, with their entries. In the sandbox, each is a directory of its own with the same entries
	 * except for these names. To mount something on a secret would not do: that ends when the secret is replaced, and is not
	 * possible before it exists.
	 */
	views: ReadonlyMap<string, readonly Dirent[]>;
	/** Directories that have too many entries for that. In them, only what exists is hidden. */
	tooLarge: readonly string[];
}

/**
 * Finds what to hide. In a home directory, all directories on the way to a secret become views; elsewhere, the last one, but not
 * those of the system: its secrets rarely change, and each command of root would take a mount for each entry of /etc.
 * @param isReplaced whether a path is in a directory that is another one in the sandbox
 */
export function findHidden(setup: SandboxSetup, isReplaced: (path: string) => boolean): Hidden {
	const { cwd } = setup;
	const homes = setup.homes.filter((home) => home !== "/").sort((a, b) => a.length - b.length);
	const isShown = (path: string) => !isReplaced(path) || [cwd, ...homes].some((dir) => contains(dir, path));
	const found = namesOf(secretPaths(setup)).filter((path) => isShown(path) && !contains(path, cwd));
	const all = new Set(found);
	const names = found.filter((path) => !directoriesBetween("/", path).some((dir) => all.has(dir)));
	const system = new Set(namesOf(systemSecrets()));
	const directoriesOf = (path: string) => {
		if (system.has(path)) return [];
		const home = homes.find((each) => contains(each, path));
		return home === undefined ? [dirname(path)] : [home, ...directoriesBetween(home, path)];
	};
	const views = new Map<string, readonly Dirent[]>();
	const tooLarge: string[] = [];
	for (const dir of distinct(names.flatMap(directoriesOf))) {
		// The working directory is the real one, because programs write to it.
		if (dir === "/" || contains(cwd, dir) || !isShown(dir)) continue;
		const entries = entriesOf(dir);
		if (entries.length > MAX_ENTRIES) tooLarge.push(dir);
		else if (entries.length > 0 || isDirectory(dir)) views.set(dir, entries);
	}
	return { names: new Set(names), views, tooLarge };
}

/** The paths without links in their directories, and what they name if they are links. */
function namesOf(paths: readonly string[]): string[] {
	const known = new Map<string, string>();
	const realDirectory = (dir: string): string => {
		const real = known.get(dir) ?? (exists(dir) ? realPath(dir) : join(realDirectory(dirname(dir)), basename(dir)));
		known.set(dir, real);
		return real;
	};
	return distinct(
		paths.flatMap((path) => [
			join(realDirectory(dirname(path)), basename(path)),
			...(exists(path) ? [realPath(path)] : []),
		]),
	);
}

function entriesOf(dir: string): Dirent[] {
	try {
		return readdirSync(dir, { withFileTypes: true });
	} catch {
		return []; // missing, or it cannot be read, and therefore not by programs in the sandbox
	}
}

/** Arguments of bwrap that make the views; `closeViews` follows. Sockets, pipes and devices are left out. */
export function openViews({ names, views }: Hidden, setup: SandboxSetup): string[] {
	const fill = (dir: string): string[] =>
		(views.get(dir) ?? []).flatMap((entry) => {
			const path = join(dir, entry.name);
			if (names.has(path)) return showSkills(path, setup);
			if (views.has(path)) return ["--dir", path, ...fill(path)];
			if (entry.isSymbolicLink()) return linkTo(path);
			return entry.isDirectory() || entry.isFile() ? ["--ro-bind-try", path, path] : [];
		});
	return rootsOf(views).flatMap((root) => ["--tmpfs", root, ...fill(root)]);
}

/** Makes the views read-only. */
export function closeViews({ views }: Hidden): string[] {
	return rootsOf(views).flatMap((root) => ["--remount-ro", root]);
}

function rootsOf(views: Hidden["views"]): string[] {
	return [...views.keys()].filter((view) => !views.has(dirname(view)));
}

function linkTo(path: string): string[] {
	try {
		return ["--symlink", readlinkSync(path), path];
	} catch {
		return []; // deleted meanwhile
	}
}

/** The model may read the skills in the agent directory. */
function showSkills(path: string, { env, homes }: SandboxSetup): string[] {
	if (!agentDirs(env, homes).includes(path)) return [];
	const skills = realPath(join(path, "skills"));
	return isDirectory(skills) ? ["--ro-bind", skills, join(path, "skills")] : [];
}

/** Arguments of bwrap that hide what exists and is in no view, such as in the working directory. */
export function hideOthers({ names, views }: Hidden, setup: SandboxSetup): string[] {
	const others = [...names].filter((path) => exists(path) && !views.has(dirname(path)));
	return others.flatMap((path) => {
		if (!isDirectory(path)) return ["--ro-bind", join(setup.state, "hidden-file"), path];
		const skills = showSkills(path, setup);
		if (skills.length === 0) return ["--ro-bind", join(setup.state, "hidden-dir"), path];
		return ["--tmpfs", path, ...skills, "--remount-ro", path];
	});
}
