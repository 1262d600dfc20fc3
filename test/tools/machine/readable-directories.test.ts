import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalMachine } from "../../../src/tools/machine/local-machine.js";
import { ReadableDirectories, withReadable } from "../../../src/tools/machine/readable-directories.js";
import { createShellHost } from "../../../src/tools/machine/shell-machine.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";
import { localShell } from "../../helpers/tool-hosts.js";

/** A host whose files are those below another directory, as if this machine's were not there. */
async function hostWith(readable: string[]) {
	const there = tempDir();
	const remote = await createShellHost(localShell(), { cwd: there });
	onTestFinished(() => remote.dispose());
	const opened: string[] = [];
	const watched = new Proxy(remote, {
		get(target, name) {
			if (name === "openFile") {
				return (path: string) => {
					opened.push(path);
					return target.openFile(path);
				};
			}
			const member: unknown = Reflect.get(target, name);
			return typeof member === "function" ? member.bind(target) : member;
		},
	});
	const directories = new ReadableDirectories(readable);
	return { host: withReadable(watched, createLocalMachine("/"), () => directories), opened, there };
}

async function textOf(host: Awaited<ReturnType<typeof hostWith>>["host"], path: string) {
	const file = await host.openFile(path);
	const into = new Uint8Array(100);
	const length = await file.read(into);
	await file.close();
	return Buffer.from(into.subarray(0, length)).toString();
}

test("files in readable directories are those of this machine, all others those of the host", async () => {
	const here = tempDir();
	writeFiles(here, { "saved.log": "saved" });
	const { host, opened, there } = await hostWith([here]);
	writeFiles(there, { "a.txt": "a" });
	expect(await textOf(host, join(here, "saved.log"))).toBe("saved");
	expect(opened).toEqual([]);
	expect(await textOf(host, join(there, "a.txt"))).toBe("a");
	expect(opened).toEqual([join(there, "a.txt")]);
	expect(await host.list(here)).toEqual([{ name: "saved.log", kind: "file", isFolder: false }]);
	expect(await host.stat(join(here, "saved.log"))).toEqual({ kind: "file", size: 5 });
});

test("a neighbor whose name begins alike, and a path that leaves the directory, are on the host", async () => {
	const parent = tempDir();
	writeFiles(parent, { "tmp/saved.log": "saved", "tmp-other/b.txt": "b", "c.txt": "c" });
	const { host, opened } = await hostWith([join(parent, "tmp")]);
	for (const path of [join(parent, "tmp-other/b.txt"), `${parent}/tmp/../c.txt`]) await textOf(host, path);
	expect(opened).toHaveLength(2);
});

test("a link in a readable directory does not make other files of this machine readable", async () => {
	const here = tempDir();
	const secret = tempDir();
	writeFileSync(join(secret, "key"), "secret");
	symlinkSync(secret, join(here, "link"));
	const { host, opened } = await hostWith([here]);
	await textOf(host, join(here, "link/key"));
	expect(opened, "the host is asked, which may not have it").toEqual([join(here, "link/key")]);
	const gone = join(tempDir(), "gone");
	mkdirSync(gone);
	const directories = new ReadableDirectories([gone]);
	symlinkSync(secret, `${gone}-later`);
	expect(directories.contains(join(secret, "key"))).toBe(false);
});

test("nothing is written into a readable directory", async () => {
	const here = tempDir();
	const { host } = await hostWith([here]);
	await expect(host.writeFile(join(here, "new"), "x")).rejects.toMatchObject({
		code: "file_unreadable",
		message: `Cannot write ${join(here, "new")}: it is on the user's machine, where tools on sh here can only read it`,
	});
});
