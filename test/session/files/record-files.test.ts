import { expect, test } from "vitest";
import { FileContents } from "../../../src/log/file-contents.js";
import { GitChanges } from "../../../src/session/files/git-changes.js";
import { recordFiles } from "../../../src/session/files/record-files.js";
import { restoreFiles } from "../../../src/session/files/restore-files.js";
import { toolContext } from "../../tools/context.js";

test("what a tool changed on a machine is restored there", async () => {
	const { host } = await toolContext();
	const setup =
		"git init -q && printf 'one\\n' > a.txt && git add -A && git -c user.name=a -c user.email=a@b commit -qm all";
	const hasGit = (await host.exec(setup)).exitCode === 0;
	const contents = new FileContents(null);
	const git = new GitChanges(host, () => contents);
	const recording = recordFiles(host, contents, git);
	await recording.host.writeFile(`${host.cwd}/new.txt`, "new\n");
	await recording.host.exec("printf 'two\\n' > a.txt; printf 'more\\n' >> new.txt");
	const changes = await recording.end();
	const files = changes.map(({ path }) => path.split("/").at(-1));
	expect(files).toEqual(hasGit ? ["new.txt", "a.txt"] : ["new.txt"]);
	const { left } = await restoreFiles(
		changes.map((change) => ({ ...change, isInterrupted: false })),
		host,
		contents,
		async () => true,
	);
	expect(left).toEqual([]);
	const names = (await host.list(host.cwd)).map(({ name }) => name);
	expect(names).not.toContain("new.txt");
	const file = await host.openFile(`${host.cwd}/a.txt`).catch(() => null);
	const bytes = Buffer.alloc(8);
	const length = (await file?.read(bytes)) ?? 0;
	await file?.close();
	if (hasGit) expect(bytes.toString("utf8", 0, length)).toBe("one\n");
});
