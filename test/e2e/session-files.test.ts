import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import { assistant, assistantMessage, header, user } from "../helpers/entries.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

test("--session creates a file in an existing directory and continues it the next time", async () => {
	const provider = await startProvider();
	provider.reply("One.", "Two.");
	const cwd = tempDir();
	const agentDir = agentDirFor(provider);
	const first = await runPi(["-p", "--session", "new.jsonl", "first"], { agentDir, cwd });
	expect(first).toEqual({ code: 0, signal: null, stdout: "One.\n", stderr: "" });
	expect(readFileSync(join(cwd, "new.jsonl"), "utf8")).toMatch(/^\{"type":"session",/);
	expect(await runPi(["-p", "--session", "./new.jsonl", "second"], { agentDir, cwd })).toMatchObject({ code: 0 });
	expect(conversation(provider, 1)).toEqual(["user: first", "assistant: One.", "user: second"]);
	expect(existsSync(join(agentDir, "sessions"))).toBe(false);
});

test("--session with an unknown id or a missing directory is rejected", async () => {
	const provider = await startProvider();
	provider.reply("One.");
	const cwd = tempDir();
	const agentDir = agentDirFor(provider);
	await runPi(["-p", "first"], { agentDir, cwd });
	const dir = join(agentDir, "sessions", readdirSync(join(agentDir, "sessions"))[0] ?? "");
	const id = /_([^_]+)\.jsonl$/.exec(readdirSync(dir).join())?.[1] ?? "";
	const unknown = await runPi(["-p", "--session", `${id.slice(0, 7)}x`, "hi"], { agentDir, cwd });
	expect(unknown).toMatchObject({ code: 1, stdout: "" });
	expect(unknown.stderr).toMatch(new RegExp(`^pi: [^\\n]*did you mean ${id}\\?\\n$`));
	const lost = await runPi(["-p", "--session", "none/new.jsonl", "hi"], { agentDir, cwd });
	expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining("none/new.jsonl") });
	expect(provider.requests).toHaveLength(1);
});

test("a file that holds only a part of a header is an empty session, and its bytes are kept", async () => {
	const provider = await startProvider();
	provider.reply("One.", "Two.");
	const cwd = tempDir();
	const agentDir = agentDirFor(provider);
	const torn = '{"type":"session","version":1,"id":"0a1b2c3d-0000-40';
	writeFileSync(join(cwd, "torn.jsonl"), torn);
	const run = await runPi(["-p", "--session", "torn.jsonl", "first"], { agentDir, cwd });
	expect(run).toMatchObject({ code: 0, stdout: "One.\n" });
	expect(run.stderr).toMatch(/^The file [^\n]*torn\.jsonl held no complete session[^\n]*kept as [^\n]*\n$/);
	const [kept = ""] = readdirSync(cwd).filter((name) => name.startsWith("torn.jsonl.replaced-"));
	expect(readFileSync(join(cwd, kept), "utf8")).toBe(torn);
	expect(await runPi(["-p", "--session", "torn.jsonl", "second"], { agentDir, cwd })).toMatchObject({ stderr: "" });
	expect(conversation(provider, 1)).toEqual(["user: first", "assistant: One.", "user: second"]);
});

test("a session outside the session directory is resumed by its path", async () => {
	const provider = await startProvider();
	provider.reply("One.");
	const cwd = tempDir();
	const pi = await openPi({ args: ["--session", "new.jsonl"], agentDir: agentDirFor(provider), cwd, columns: 120 });
	await submit(pi, "first");
	await pi.waitForText("One.");
	await pi.press("ctrl+d");
	await pi.exited;
	expect(await pi.screen()).toContain(`Resume this session with pi --session ${join(cwd, "new.jsonl")}`);
});

test.each(["", " \n\t\n"])("an empty settings file %j is no settings", async (text) => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const agentDir = agentDirFor(provider, { files: { "settings.json": text } });
	const run = await runPi(["-p", "--model", "loopback/scripted", "hi"], { agentDir });
	expect(run).toEqual({ code: 0, signal: null, stdout: "Fine.\n", stderr: "" });
	expect(readFileSync(join(agentDir, "settings.json"), "utf8")).toBe(text);
});

test("the cost of a long session appears in the footer without a key", async () => {
	const provider = await startProvider();
	const reply = assistantMessage("answer");
	const usage = { ...reply.usage, input: 10, output: 5, totalTokens: 15, cost: { ...reply.usage.cost, total: 0.01 } };
	const turns = Array.from({ length: 10_000 }, (_, turn) => [
		user(`question ${turn}`),
		{ ...assistant("answer"), message: { ...reply, usage } },
	]);
	const path = join(tempDir(), "long.jsonl");
	writeFileSync(path, [header(), ...turns.flat()].map(encodeEntry).join(""));
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--session", path] });
	await pi.waitForText("$100.00");
});
