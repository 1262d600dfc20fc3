import { expect, onTestFinished, test } from "vitest";
import { createHookTest } from "../../src/testing/index.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example, tryExample } from "./example.js";

const HOOK = example("handoff.ts");

test("the edited summary is the first prompt of a new session, and the old session is unchanged", async () => {
	const drafts: string[] = [];
	const run = await startSession({
		hookFiles: [HOOK],
		session: { kind: "new" },
		ui: {
			editor: async (_, initial) => {
				drafts.push(initial);
				return "Go on with the tests.";
			},
		},
	});
	const { session, provider, sent } = run;
	provider.reply("a1", "THE DRAFT", "ok");
	await session.prompt("u1");
	const { sessionId } = session;
	await session.prompt("/handoff write tests");
	expect(sent(2)[0]).toContain("[User]\nu1\n\n[Assistant]\na1");
	expect(sent(2)[0]).toContain("The goal of the new session: write tests.");
	expect(drafts).toEqual(["THE DRAFT"]);
	expect(sent(3)).toEqual(["user: Go on with the tests."]);
	expect(session.sessionId).not.toBe(sessionId);
	expect(run.notices()).toEqual([]);
});

test("nothing happens without a conversation, after a cancel, or if the model fails", async () => {
	const t = await tryExample("handoff.ts", {
		replies: ["a1", "DRAFT", { error: "out of order" }],
		dialogs: [null, "", null, ""],
	});
	expect(await t.run("/handoff")).toMatchObject({ status: "There is nothing to hand over yet" });
	await t.run("u1");
	const unpaid = () => t.entries.filter(({ type }) => type !== "request_usage").length;
	const entries = unpaid();
	expect(await t.run("/handoff")).toMatchObject({ status: null });
	expect(t.requests).toHaveLength(1);
	expect(await t.run("/handoff")).toMatchObject({ status: null });
	expect(await t.run("/handoff")).toMatchObject({
		status: expect.stringMatching(/^Nothing was handed over: .*out of order/),
	});
	expect(unpaid()).toBe(entries);
	expect(t.screen.statuses).toEqual({});
});

test("without a person the draft is sent as it is", async () => {
	const t = await tryExample("handoff.ts", { replies: ["a1", "DRAFT", "ok"], hasUI: false });
	await t.run("u1");
	await t.run("/handoff");
	expect(t.requests[2]?.messages).toEqual([{ role: "user", text: "DRAFT" }]);
});

test("if another hook keeps the session open, the summary goes to the editor", async () => {
	const dir = tempDir();
	const keep = `export default (pi) => pi.on("session", ({ reason }) => reason === "before_clear" ? { cancel: true } : undefined);`;
	writeFiles(dir, { "keep.ts": keep });
	const t = await createHookTest({ hooks: [HOOK, `${dir}/keep.ts`], replies: ["a1", "DRAFT"], dialogs: ["", "MINE"] });
	onTestFinished(() => t.dispose());
	await t.run("u1");
	const result = await t.run("/handoff");
	expect(result.status).toBe("A hook kept this session open; the summary is in the editor");
	expect(t.screen.editorText).toBe("MINE");
});
