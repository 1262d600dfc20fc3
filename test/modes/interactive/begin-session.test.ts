import { expect, test } from "vitest";
import { afterFirstRequest } from "../../../src/modes/interactive/begin-session.js";
import { startSession } from "../../helpers/session.js";

test("highlighting is loaded after the first request when a prompt waited for the session", async () => {
	const { session, provider } = await startSession();
	provider.reply("hello");
	const answered = session.prompt("hi");
	await afterFirstRequest(session);
	expect(provider.requests.length).toBe(1);
	await answered;
});

test("highlighting is loaded immediately when no prompt waits", async () => {
	const { session, provider } = await startSession();
	await afterFirstRequest(session);
	expect({ requests: provider.requests.length, isRunning: session.isRunning }).toEqual({
		requests: 0,
		isRunning: false,
	});
});
