import type { FileRecording } from "../../agent/tool-calls.js";
import type { FileChange } from "../../log/entry.js";
import { foldChanges } from "../../log/file-changes.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { GitChanges } from "./git-changes.js";
import { type KeptContents, keepContent } from "./keep-content.js";

/**
 * A host on which a tool works as on `host`, while its changes are recorded: files that it writes, and what its command lines
 * change in the git repository of the working directory. Background commands are not recorded: they end after the call.
 */
export function recordFiles(host: ToolHost, contents: KeptContents, git: GitChanges): FileRecording {
	const changes: FileChange[] = [];
	const elsewhere = elsewhereOf(host);
	const on = elsewhere === null ? {} : { on: elsewhere };
	let isEnded = false;
	const add = (change: FileChange) => {
		if (!isEnded) changes.push({ ...change, ...on });
	};
	return {
		host: {
			name: host.name,
			...(host.note === undefined ? {} : { note: host.note }),
			...(host.sharesFiles === undefined ? {} : { sharesFiles: host.sharesFiles }),
			cwd: host.cwd,
			home: host.home,
			tmpDir: host.tmpDir,
			...(host.agentDir === undefined ? {} : { agentDir: host.agentDir }),
			platform: host.platform,
			async exec(command, options) {
				if (typeof command !== "string" || options?.waitsForGroup) return host.exec(command, options);
				const before = await git.snapshot(options?.signal);
				const result = await host.exec(command, options);
				if (before !== null) for (const change of await git.changesSince(before)) add(change);
				return result;
			},
			openFile: host.openFile.bind(host),
			async writeFile(path, data, options) {
				const before = await keepContent(host, path, contents, options?.signal);
				const written = await host.writeFile(path, data, options);
				const after = await contents.put(typeof data === "string" ? Buffer.from(data) : data);
				add({ path: written.realPath, before: written.created ? null : before, after });
				return written;
			},
			stat: host.stat.bind(host),
			list: host.list.bind(host),
			realPath: host.realPath.bind(host),
			search: host.search.bind(host),
			dispose: host.dispose.bind(host),
		},
		async end() {
			isEnded = true;
			return foldChanges(changes).map(({ isInterrupted: _, ...change }) => change);
		},
	};
}
