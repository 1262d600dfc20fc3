import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { splitArgs } from "../../src/util/split-args.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

const page = readFileSync(new URL("../../docs/hooks-tour.md", import.meta.url), "utf8");
const [introduction = "", ...sections] = page.split(/^## /m);
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/** Code blocks of a language in a section; lines to type have none. */
function blocks(section: string, language: string): string[] {
	return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code = ""]) =>
		found === language ? [code] : [],
	);
}

/** The section with this number. */
const step = (number: number) =>
	sections.find((section) => section.startsWith(`${number}. `)) ?? expect.fail("missing");

/** The arguments of the `pi` commands of a section. */
const piCommands = (section: string) =>
	blocks(section, "sh")
		.flatMap((code) => code.trimEnd().split("\n"))
		.flatMap((line) => (line.startsWith("pi ") ? [splitArgs(line).slice(1)] : []));

/** Adds the code of a section to a file, as the page says: imports at the top, all else before the last brace. */
function edited(source: string, section: string): string {
	return blocks(section, "ts").reduce((before, code) => {
		if (code.includes("export default")) return code;
		if (!code.startsWith("import")) return before.replace(/}\n$/, `\n${code}}\n`);
		const module = / from (".*")/.exec(code)?.[1] ?? "";
		const others = before.split("\n").filter((line) => !line.endsWith(`from ${module};`));
		return code + others.join("\n");
	}, source);
}

test("the hook author's tour works as printed", { timeout: 180_000 }, async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const file = join(agentDir, "hooks/notes.ts");
	for (const args of piCommands(introduction)) expect(await runPi(args, { agentDir })).toMatchObject({ code: 0 });
	let source = edited("", step(1));
	writeFileSync(file, source);
	const open = (args: string[] = []) => openPi({ agentDir, args, columns: 100, rows: 40 });
	let pi = await open();
	/** What the screen says of reloads; another one changes it. */
	const loads = async () => (await pi.scrollback()).match(/1 hook loaded|\d+ times\)/g)?.join(" ");
	/** Saves the code of a step and types its lines. */
	const take = async (number: number) => {
		if (number > 1) source = edited(source, step(number));
		writeFileSync(file, source);
		for (const line of blocks(step(number), "").flatMap((code) => code.trimEnd().split("\n"))) {
			const before = await loads();
			await submit(pi, line);
			if (line === "/reload") await expect.poll(loads, { timeout: 10_000 }).not.toBe(before);
		}
	};

	await pi.waitForText("0% of");
	await take(1);
	await pi.waitForText("The session has 1 entries");
	await take(2);
	await pi.waitForText("✎ Prices are whole cents.");
	await take(3);
	await pi.waitForText(/My notes:[\s\S]*notes/);
	await pi.press("escape");
	await pi.waitForGone(/Next request|Context of the next request/);

	provider.reply("They are about prices.");
	await take(4);
	await pi.waitForText("They are about prices.");
	await pi.waitForGone("esc stops");
	const [request] = provider.requests;
	expect(request?.messages.map(({ text }) => text)).toEqual([
		expect.stringContaining("Answer in one sentence."),
		"My notes:\nPrices are whole cents.",
		"What do my notes say?",
	]);
	expect(JSON.stringify(request?.body.tools)).not.toContain('"name":"write"');
	await submit(pi, "/context");
	await pi.waitForText("notes:style");
	await pi.press("escape");
	await pi.waitForGone("notes:style");

	provider.reply([toolCall("take_note", { text: "Taxes are rounded up." })], "I noted that.");
	await take(5);
	await pi.waitForText("✎ Taxes are rounded up.");
	await pi.waitForText("I noted that.");
	await pi.waitForGone("esc stops");
	expect(provider.requests[2]?.messages[1]?.text).toBe("My notes:\nPrices are whole cents.\nTaxes are rounded up.");

	await take(6);
	await pi.waitForText("Key bindings");
	pi.type("notes");
	await pi.waitForText(/f6.*List the notes/);
	await pi.press("escape");
	await pi.waitForGone("Key bindings");
	pi.type("\x1b[17~"); // F6
	await pi.waitForText("Prices are whole cents. · Taxes are rounded up.");

	source = edited(source, step(7));
	writeFileSync(file, source);
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toMatchObject({ code: 0 });
	pi = await open(piCommands(step(7))[0]);
	await pi.waitForText("✎ Names are in English.");
	expect((await runPi(["--help"], { agentDir })).stdout).toContain("--note <value>");

	await take(8);
	await pi.waitForText(/^1 notes$/m);
	provider.reply([toolCall("take_note", { text: "Blue." })], "Noted.");
	await submit(pi, "Take a note.");
	await pi.waitForText(/^2 notes$/m);

	const testFile = join(agentDir, "hooks/tests/notes.test.mjs");
	writeFileSync(testFile, blocks(step(9), "js")[0] ?? "");
	for (const args of piCommands(step(9)))
		expect(await runPi(args, { agentDir })).toMatchObject({ code: 0, stderr: "" });
	expect(page).toContain("node --test ~/.pi/agent/hooks/tests/notes.test.mjs");
	const run = (args: string[]) =>
		spawnSync(process.execPath, args, { encoding: "utf8", env: { PATH: process.env.PATH } });
	expect(run(["--test", testFile])).toMatchObject({ status: 0, stdout: expect.stringContaining("pass 1") });
	expect(run([TSC, "--pretty", "false", "-p", join(agentDir, "hooks")]).stdout).toBe("");
});
