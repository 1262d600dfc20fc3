import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

test("a session that began in another directory shows a notice when it is opened or switched to", async () => {
	const [here, sessionDir] = [tempDir(), tempDir()];
	const first = await startSession({ sessionDir, session: { kind: "new" } });
	first.provider.reply("ok");
	await first.session.prompt("hi");
	const { sessionFile: path, cwd: there } = first.session;
	await first.session.dispose();
	if (path === null) throw new Error("The session was not saved");
	const note = `This session began in ${there} · tools and relative paths now use ${here}`;
	const { provider, agentDir } = first;

	const opened = await startSession({ provider, agentDir, cwd: here, session: { kind: "open", target: path } });
	expect(opened.notices()).toEqual([note]);
	await opened.session.dispose();

	const switched = await startSession({ provider, agentDir, sessionDir, cwd: here, session: { kind: "new" } });
	expect(switched.notices()).toEqual([]);
	await switched.session.prompt(`/resume ${path}`);
	expect(switched.notices()).toEqual([note, `Session ${path}`]);
	expect(switched.session.loaded.warnings).toEqual([note]);
	await switched.session.prompt("/new");
	expect(switched.session.loaded.warnings).toEqual([]);
	await switched.session.dispose();

	const back = await startSession({ provider, agentDir, cwd: there, session: { kind: "open", target: path } });
	expect(back.notices()).toEqual([]);
});

test.each(["/new", "/branch 1"])(
	"%s forgets the warnings of the previous session, and keeps those of files",
	async (command) => {
		const first = await startSession({ session: { kind: "new" } });
		first.provider.reply("ok");
		await first.session.prompt("hi");
		const { sessionFile: path } = first.session;
		await first.session.dispose();
		const { provider, agentDir } = first;
		writeFiles(agentDir, { "settings.json": { nonsense: 1 } });
		const lines = readFileSync(path ?? "", "utf8").split("\n");
		writeFileSync(path ?? "", [...lines.slice(0, -1), "garbage", ""].join("\n"));
		const { session } = await startSession({ provider, agentDir, session: { kind: "open", target: path ?? "" } });
		const ofFiles = expect.stringContaining("nonsense");
		expect(session.loaded.warnings).toEqual([
			ofFiles,
			expect.stringContaining("This session began in"),
			expect.stringContaining("1 line of the session file is damaged"),
		]);
		await session.prompt(command);
		expect(session.loaded.warnings).toEqual([ofFiles]);
	},
);
