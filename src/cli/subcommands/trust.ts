import { PiError } from "../../errors.js";
import {
	findProjectSet,
	loadTrust,
	type ProjectFile,
	type ProjectSet,
	storeTrust,
	untrust,
} from "../../trust/store.js";
import { revealInvisible } from "../../util/reveal.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";

/**
 * `pi hooks trust`: trusts the current code of the project and prints its files.
 * @throws PiError `config_invalid` for a project with too much code to check, `config_write_failed`
 */
export async function trustProject({ location: { paths, env }, options, io }: SubcommandContext): Promise<number> {
	const store = loadTrust(paths.agentDir);
	if (store.warning) printNotices(io, [store.warning]);
	const set = await findProjectSet(paths.cwd, store, { env, home: paths.home });
	if (set.incomplete !== undefined) {
		throw new PiError(
			"config_invalid",
			`The code in ${paths.project.dir} cannot be trusted: it has ${set.incomplete}`,
			{ hint: "remove unrelated files" },
		);
	}
	if (set.files.length > 0) {
		const { keptAside } = await storeTrust(paths.agentDir, set);
		if (keptAside !== undefined) printNotices(io, [`The unreadable trust.json was renamed to ${keptAside}`]);
	}
	if (options.json) await printJson(io, describeJson(set));
	else if (set.files.length === 0) await printLines(io, [`${set.root} has no hooks, tools or MCP servers`]);
	else {
		const rows = set.files.map((file) => [
			revealInvisible(file.rel),
			`${file.size} bytes`,
			file.sha256.slice(0, 12),
			change(file),
		]);
		await printLines(io, [`Trusted in ${set.root}, until one of these files changes:`, ...tableLines(rows)]);
	}
	printNotices(io, describeUnresolved(set));
	return 0;
}

/** `pi hooks untrust`: revokes the trust of this project. @throws PiError `config_write_failed` */
export async function untrustProject({ location: { paths }, options, io }: SubcommandContext): Promise<number> {
	const found = await untrust(paths.agentDir, paths.cwd);
	if (options.json) await printJson(io, { project: paths.cwd, untrusted: found });
	else await printLines(io, [found ? `${paths.cwd} is no longer trusted` : `${paths.cwd} was not trusted`]);
	return 0;
}

function change({ state }: ProjectFile): string {
	return state === "trusted" ? "unchanged" : state;
}

function describeUnresolved({ unresolved }: ProjectSet): string[] {
	return unresolved.map(
		({ from, specifier, reason }) =>
			`${revealInvisible(from)} loads ${revealInvisible(specifier)}, which trust does not cover: ${reason}`,
	);
}

function describeJson({ root, files, unresolved }: ProjectSet) {
	return {
		project: root,
		files: files.map(({ rel, size, sha256, state }) => ({ rel, size, sha256, state })),
		unresolved,
	};
}
