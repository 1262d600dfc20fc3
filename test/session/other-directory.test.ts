import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";

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
	await switched.session.dispose();

	const back = await startSession({ provider, agentDir, cwd: there, session: { kind: "open", target: path } });
	expect(back.notices()).toEqual([]);
});
