import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

/** Attacks of a hostile text: clipboard, title, cursor, screen, invisible colors, queries, 8-bit forms, links. */
const ATTACKS = [
	"\x1b]52;c;UFdORUQ=\x07",
	"\x1b]0;PWNED-title\x07",
	"\x1b]2;PWNED-title\x1b\\",
	"\x1b[13;37H",
	"\x1b[2J\x1b[3J",
	"\x1b[?1049h",
	"\x1b[8m",
	"\x1b[c\x1b[6n",
	"\x1bP+q544e\x1b\\",
	"\x1b_PWNED\x1b\\",
	"\x9b13;37H",
	"\x9d0;PWNED-c1\x9c",
	"\x1b]8;;file:///PWNED\x07link\x1b]8;;\x07",
	"\x07\x08\x0e",
] as const;
const HOSTILE = `before ${ATTACKS.join(" ")} after`;
/** A hook that asks a question with hostile text. */
const ASK = `const evil = "\\x1b]0;PWNED\\x07\\x1b[2J\\x9b2J";
export default (pi) => pi.command("ask", {
	description: "asks" + evil,
	handler: async ({ ui }) => {
		await ui.select("title" + evil, [{ label: "option" + evil, description: "more" + evil, value: 1 }]);
		ui.notify("answered" + evil, "warning");
	},
});`;
/** The same as octal escapes of `printf`. */
const AS_PRINTF = [...Buffer.from(HOSTILE)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

test("no control sequence of model, tools, files or names reaches the terminal", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	writeFiles(cwd, { "hostile.txt": `${HOSTILE}\n`, "AGENTS.md": HOSTILE, "bad\x1b]0;PWNED-name\x07.txt": "x\n" });
	provider
		.reply([
			{ type: "thinking", thinking: HOSTILE },
			text(
				`# ${HOSTILE}\n\n- \`${HOSTILE}\`\n\n\`\`\`sh\n${HOSTILE}\n\`\`\`\n\n[${HOSTILE}](https://example.org/${HOSTILE})`,
			),
			toolCall("read", { path: "hostile.txt" }),
			toolCall("ls", { path: "." }),
			toolCall("bash", { command: `printf '${AS_PRINTF}'; : '${HOSTILE.replaceAll("'", "")}'` }),
			toolCall("edit", { path: "hostile.txt", oldText: "before", newText: HOSTILE }),
			toolCall("write", { path: "new\x1b]0;PWNED-new\x07.txt", content: HOSTILE }),
			toolCall(`no_such_tool`, { path: HOSTILE }),
			toolCall("grep", { pattern: HOSTILE }),
		])
		.reply({ fault: { kind: "http", status: 400, message: HOSTILE } });
	const pi = await openPi({ agentDir: agentDirFor(provider), cwd, columns: 120, rows: 40 });
	await submit(pi, "go");
	await pi.waitForScreen((all) => all.includes("400"), "the failure to show", { scrollback: true });
	await pi.press("ctrl+o");
	await pi.waitForText("Transcript · ");
	pi.type("E");
	await pi.press("home", ...Array.from({ length: 10 }, () => "pageDown"), "end", "ctrl+o");
	await pi.waitForGone("Transcript · ");
	await pi.press("ctrl+t");
	await submit(pi, "!printf '\\033]0;PWNED-bang\\007'");
	await pi.waitForText(/PWNED-bang.*exit 0/, { scrollback: true });
	await submitIdle(pi, "/quit");
	await pi.exited;
	expect(foreign(pi.output())).toEqual([]);
});

test("hostile text from a paste or the history is shown without control sequences", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	provider.reply("Read.");
	await runPi(["-p", HOSTILE], { agentDir, cwd });
	const pi = await openPi({ agentDir, cwd, args: ["--continue"] });
	await pi.waitForText("Read.");
	await pi.press("up");
	pi.type("recalled");
	await pi.waitForText("recalled");
	await pi.press("ctrl+c");
	pi.paste(`pasted ${HOSTILE}`);
	await pi.waitForText("pasted before");
	await pi.press("ctrl+c", "ctrl+c");
	await pi.exited;
	expect(foreign(pi.output())).toEqual([]);
});

test("a session with hostile text is shown without control sequences", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	provider.reply(HOSTILE, HOSTILE);
	await runPi(["-p", "an older session"], { agentDir, cwd });
	await runPi(["-p", HOSTILE], { agentDir, cwd });
	const pi = await openPi({ agentDir, cwd, args: ["--continue"] });
	await pi.waitForText("after");
	await submit(pi, "/context");
	await pi.waitForText("Next request");
	// One at a time: two escapes in one read are a different key.
	await pi.press("enter");
	await pi.waitForText("esc back");
	await pi.press("escape");
	await pi.waitForText("Next request");
	await pi.press("escape");
	await pi.waitForGone("Next request");
	await submitIdle(pi, "/resume");
	await pi.waitForText("show pi -p");
	await pi.press("ctrl+t");
	await pi.waitForText("an older session");
	await pi.press("escape", "ctrl+d");
	await pi.exited;
	expect(foreign(pi.output())).toEqual([]);
});

test("no name that pi shows emits control sequences: directory, branch, file, model, theme, setting, session, dialog", async () => {
	const evil = "\x1b]0;PWNED\x07\x1b[2J\x9b2J";
	const provider = await startProvider();
	provider.on(() => "Fine.");
	const cwd = join(tempDir(), `dir${evil}`);
	writeFiles(cwd, {
		".git/HEAD": `ref: refs/heads/branch${evil}\n`,
		".pi/settings.json": { theme: `theme${evil}`, [`key${evil}`]: 1 },
		[`.pi/prompts/prompt${evil}.md`]: "---\ndescription: odd\n---\n",
		".pi/prompts/even.md": `---\ndescription: "even${JSON.stringify(evil).slice(1, -1)}"\n---\nGo on.`,
		[`.pi/hooks/hook${evil}.ts`]: "export default () => {};",
		[`file${evil}.txt`]: "",
	});
	const model = { ...provider.model(), id: "scripted", name: `Model${evil}` };
	const { baseUrl, compat } = model;
	const models = { loopback: { baseUrl, compat, api: model.api, apiKey: "loopback-key", models: [model] } };
	const agentDir = agentDirFor(provider, { models: { providers: models }, hooks: { "ask.ts": ASK } });
	const pi = await openPi({ agentDir, cwd, columns: 120, rows: 40 });
	await pi.waitForText("Run it?");
	await pi.press("escape");
	await pi.waitForText("Model␛]0;PWNED^G");
	pi.type("@fi");
	await pi.waitForText("file␛]0;PWNED^G");
	await pi.press("escape", "ctrl+c");
	await pi.waitForGone("@fi");
	pi.type("/even");
	await pi.waitForText("even␛]0;PWNED^G");
	await pi.press("escape", "ctrl+c");
	await submit(pi, "/ask now");
	await pi.waitForText("option␛]0;PWNED^G");
	await pi.press("enter");
	await pi.waitForText("answered");
	await submit(pi, `/name session${evil}`);
	await submitIdle(pi, "/quit");
	await pi.exited;
	expect(foreign(pi.output(), "[^\\x00-\\x1f\\x7f-\\x9f]+")).toEqual([]);
	for (const args of [["doctor"], ["hooks", "list"], ["sessions", "list"], ["--list-models"], [`--no${evil}`]]) {
		const command = startPi({ args, agentDir, cwd });
		await command.exited;
		expect(foreign(command.output())).toEqual([]);
	}
});

test("print mode writes a reply verbatim into a pipe and removes control sequences from stderr", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: `: '${HOSTILE}'` })]).reply(HOSTILE);
	const run = await runPi(["-p", "go"], { agentDir: agentDirFor(provider) });
	expect(run.stdout).toBe(`${HOSTILE}\n`);
	expect(run.stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
});

/**
 * Terminal output that is neither text nor one of the renderer's own sequences.
 * @param title pattern of the expected window title
 */
function foreign(output: string, title = "[\\w-]+"): string[] {
	const own = [
		/\x1b\[[\d;:]*m/g, // colors
		/\x1b\[\d*[ABCGHJKL]/g, // lines up and down, columns, clearing, lines moved down
		/\x1b\[\?(?:25|1004|2004|2026|2031)[hl]/g, // cursor, focus reports, paste mode, frames, light or dark
		/\x1b\[\?10(?:47|49)[hl]|\x1b\[\d+;1H/g, // the alternate screen and its rows
		/\x1b\[6n/g, // query of the cursor's row
		/\x1b\[2[23];2t/g,
		new RegExp(`\x1b\\]2;pi · ${title}\x07`, "g"), // the title saved and restored; pi's title names the directory
		/\x1b\]11;\?\x07/g, // query of the background color
		/\x1b\[>7u\x1b\[\?u\x1b\[c|\x1b\[<u|\x1b\[>4;[02]m/g, // key reports, and the query that tells whether a terminal has them
	];
	let rest = output;
	for (const sequence of own) rest = rest.replaceAll(sequence, "");
	const left = rest.match(/\x1b(?:\][^\x07\x1b]*|.{0,12})|[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]/g);
	return [...new Set(left)].map((sequence) => JSON.stringify(sequence));
}
