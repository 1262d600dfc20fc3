import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { httpError, startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { listen } from "../helpers/proxy.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, STACKING } from "./support.js";

/** One red pixel. */
const PNG = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
	"base64",
);

test("the answer goes to stdout, progress to stderr", async () => {
	const provider = await startProvider();
	provider.reply([text("Let me see."), toolCall("bash", { command: "echo made > made.txt" })]).reply("Done.");
	const cwd = tempDir();
	const run = await runPi(["-p", "make a file"], { agentDir: agentDirFor(provider), cwd });
	expect(run).toEqual({ code: 0, signal: null, stdout: "Done.\n", stderr: "bash echo made > made.txt\n" });
	expect(existsSync(join(cwd, "made.txt"))).toBe(true);
});

test("a context file below the working directory joins when a tool reaches it, and is named on stderr", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ls", { path: "api" })]).reply("Done.", "Still there.");
	const [cwd, agentDir] = [tempDir(), agentDirFor(provider)];
	writeFiles(cwd, { "api/AGENTS.md": "Use tabs." });
	const run = await runPi(["-p", "look"], { agentDir, cwd });
	const joined = "api/AGENTS.md joined the context · 1 line\n";
	expect(run).toEqual({ code: 0, signal: null, stdout: "Done.\n", stderr: `ls api\n${joined}` });
	const again = await runPi(["-p", "-c", "again"], { agentDir, cwd });
	expect(again.stderr).toBe("");
	for (const request of [1, 2]) {
		const files = conversation(provider, request).filter((text) => text.startsWith("user: <context_file "));
		expect(files).toEqual([expect.stringContaining('/api/AGENTS.md">\nUse tabs.\n</context_file>')]);
	}
});

test("problems of skills and prompts are printed to stderr with file and line", async () => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const agentDir = agentDirFor(provider, {
		files: {
			"skills/tea/SKILL.md": "---\nname: coffee\ndescription: Tea\n---\nBoil water.",
			"skills/pot/SKILL.md": "---\nname: pot\ndescription: [\n---\n",
			"prompts/tell.md": "---\nargument-hint: [who]\n---\nTell $1.",
		},
	});
	const run = await runPi(["-p", "go"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(run.stderr.replaceAll(`${agentDir}/`, "").trimEnd().split("\n")).toEqual([
		expect.stringMatching(/^skills\/pot\/SKILL\.md:3: .*; skill ignored$/),
		'skills/tea/SKILL.md:2: the name "coffee" differs from its directory "tea" · rename one of them',
		"prompts/tell.md:2: argument-hint must be text · put it in quotes",
	]);
	expect(provider.requests[0]?.messages[0]?.text).toContain("- coffee: Tea (");
});

test("several messages are answered in order in one session", async () => {
	const provider = await startProvider();
	provider.reply("One.", "Two.");
	const run = await runPi(["-p", "first question", "second question"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 0, stdout: "One.\nTwo.\n" });
	expect(conversation(provider, 1)).toEqual(["user: first question", "assistant: One.", "user: second question"]);
});

test("piped input, files and the message form one prompt; images are sent as images", async () => {
	const provider = await startProvider();
	provider.reply("Seen.");
	const cwd = tempDir();
	writeFiles(cwd, { "notes.txt": "buy milk\n" });
	writeFileSync(join(cwd, "dot.png"), PNG);
	const run = await runPi(["-p", "@notes.txt", "@dot.png", "what is it?"], {
		agentDir: agentDirFor(provider),
		cwd,
		stdin: "from the pipe\n",
	});
	expect(run).toMatchObject({ code: 0, stdout: "Seen.\n" });
	const sent = provider.requests[0]?.messages.at(-1);
	expect(sent?.images).toBe(1);
	expect(sent?.text).toMatch(
		/^from the pipe\n\n<file name="[^"]*notes\.txt">\nbuy milk\n<\/file>\n[\s\S]*what is it\?/,
	);
});

test("a prompt can come from the pipe alone", async () => {
	const provider = await startProvider();
	provider.reply("Heard.");
	const run = await runPi(["-p"], { agentDir: agentDirFor(provider), stdin: "only piped" });
	expect(run).toMatchObject({ code: 0, stdout: "Heard.\n" });
	expect(conversation(provider, 0)).toEqual(["user: only piped"]);
});

test("hook commands run like prompts", async () => {
	const provider = await startProvider();
	provider.reply("A shop.", "It was asked what this is.");
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	const run = await runPi(["-p", "what is this?", "/pop 1"], { agentDir });
	expect(run).toMatchObject({ code: 0, stderr: "" });
	expect(run.stdout).toMatch(/^A shop\.\nPopped to turn 1: \d+ → \d+ tokens\n$/);
});

test("prompt templates and skills of the user are found by their front matter", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const agentDir = agentDirFor(provider, {
		files: {
			"prompts/greet.md": "---\ndescription: Greets somebody\n---\nGreet $1.",
			"skills/brewing/SKILL.md": "---\nname: brewing\ndescription: How tea is made\n---\nBoil water.",
		},
	});
	const run = await runPi(["-p", "/greet Ada"], { agentDir });
	expect(run).toEqual({ code: 0, signal: null, stdout: "Done.\n", stderr: "" });
	expect(conversation(provider, 0)).toEqual(["user: Greet Ada."]);
	expect(provider.requests[0]?.messages[0]?.text).toContain("How tea is made");
});

test("a hook can cancel session changes in print mode", async () => {
	const provider = await startProvider();
	provider.reply("One.", "Two.");
	const stay = `export default (pi) => pi.on("session", ({ reason }) => reason === "before_clear" ? { cancel: true } : undefined);`;
	const run = await runPi(["-p", "first question", "/new", "second question"], {
		agentDir: agentDirFor(provider, { hooks: { "stay.ts": stay } }),
	});
	expect(run).toMatchObject({ code: 0, stdout: "One.\nHook stay canceled the new session\nTwo.\n" });
	expect(conversation(provider, 1)).toEqual(["user: first question", "assistant: One.", "user: second question"]);
});

test("an unknown command is not sent; pi exits with 2 and names the nearest", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	const run = await runPi(["-p", "/popp 1"], { agentDir });
	expect(run).toMatchObject({
		code: 2,
		stdout: "",
		stderr: expect.stringMatching(/^Unknown command \/popp · .*\/pop/),
	});
	expect(provider.requests).toEqual([]);
});

test("a command that fails prints its reason once, and an unknown model in it is a usage error", async () => {
	const run = { agentDir: agentDirFor(await startProvider()) };
	expect(await runPi(["-p", "--no-session", "/compact"], run)).toMatchObject({
		code: 1,
		stdout: "",
		stderr: "compacting the context\nThere is nothing to compact yet · continue the conversation first\n",
	});
	expect(await runPi(["-p", "/model nope"], run)).toMatchObject({
		code: 2,
		stdout: "",
		stderr: 'No model "nope" · list them with pi models list\n',
	});
});

test("/quit is refused, and the prompts after it are not sent", async () => {
	const provider = await startProvider();
	const run = await runPi(["-p", "/quit", "say hi"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^\/quit needs a terminal · /) });
	expect(provider.requests).toEqual([]);
});

test("a request that fails permanently exits with 1 and one line that names the status", async () => {
	const provider = await startProvider();
	provider.reply(httpError(401, {}, "bad key loopback-key"));
	const run = await runPi(["-p", "hi"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/^[^\n]*401[^\n]*\n$/);
	expect(run.stderr).not.toContain("loopback-key");
	expect(provider.requests).toHaveLength(1);
});

test("truncated and empty replies are reported on stderr", async () => {
	const provider = await startProvider();
	provider.reply({ content: [text("Half of")], stopReason: "length" }).reply({ content: [], stopReason: "stop" });
	expect(await runPi(["-p", "part one", "part two"], { agentDir: agentDirFor(provider) })).toMatchObject({
		code: 0,
		stdout: "Half of\n",
		stderr:
			"the reply was truncated at the model's output limit · get the rest with pi --continue -p continue\nthe model returned an empty reply\n",
	});
});

test("without a saved session, a truncated reply does not suggest to continue it", async () => {
	const provider = await startProvider();
	provider.reply({ content: [text("Half of")], stopReason: "length" });
	const { stderr } = await runPi(["-p", "--no-session", "one"], { agentDir: agentDirFor(provider) });
	expect(stderr).toBe(
		"the reply was truncated at the model's output limit · without --no-session, pi --continue -p continue gets the rest\n",
	);
});

test("the output of a process substitution is a file of the prompt", async () => {
	const provider = await startProvider();
	provider.reply("Seen.");
	const { env, cwd } = piPlace({ agentDir: agentDirFor(provider) });
	const command = '"$0" "$1" -p @<(echo piped) hi';
	const child = spawn("bash", ["-c", command, process.execPath, piProgram()], { cwd, env, stdio: "ignore" });
	expect((await once(child, "exit"))[0]).toBe(0);
	expect(conversation(provider, 0).at(-1)).toMatch(/^user: <file name="\/dev\/fd\/\d+">\npiped\n<\/file>\n\nhi$/);
});

test.each([["-p", "hi"], ["doctor"], ["sessions", "list"]])(
	"an agent directory that is a file is a usage error: %s",
	async (...args) => {
		const file = join(tempDir(), "file");
		writeFileSync(file, "");
		expect(await runPi(args, { agentDir: file })).toMatchObject({
			code: 2,
			stdout: "",
			stderr: `pi: The agent directory ${file} is not a directory · set PI_CODING_AGENT_DIR to a directory, or unset it\n`,
		});
	},
);

test.each([["-p", "hi"], ["--mode", "json", "hi"], ["sessions", "list", "--json"], ["--version"]])(
	"output that a full disk cannot take is named, and the exit code is 1: %s %s",
	async (...args) => {
		const provider = await startProvider();
		provider.on(() => "An answer.");
		const place = piPlace({ agentDir: agentDirFor(provider) });
		const shell = spawn("sh", ["-c", '"$NODE" "$PI" "$@" </dev/null >/dev/full', "sh", ...args], {
			cwd: place.cwd,
			env: { ...place.env, NODE: process.execPath, PI: piProgram() },
		});
		onTestFinished(() => void shell.kill("SIGKILL"));
		let stderr = "";
		shell.stderr.setEncoding("utf8").on("data", (chunk: string) => {
			stderr += chunk;
		});
		const [code] = await once(shell, "close");
		expect({ code, stderr }).toEqual({
			code: 1,
			stderr: "pi: cannot write the output: ENOSPC: no space left on device, write\n",
		});
	},
);

test("an argument that cannot be read leaves no lock on the session", async () => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const [cwd, agentDir] = [tempDir(), agentDirFor(provider)];
	expect(await runPi(["-p", "hi"], { agentDir, cwd })).toMatchObject({ code: 0 });
	const failed = await runPi(["-p", "-c", "look", "@missing.txt"], { agentDir, cwd });
	expect(failed).toMatchObject({ code: 2, stdout: "" });
	expect(failed.stderr).toContain("Cannot read @missing.txt");
	const files = readdirSync(join(agentDir, "sessions"), { recursive: true }).map(String);
	expect(files.filter((name) => name.endsWith(".lock"))).toEqual([]);
});

test("text that a command pipes in after some seconds is part of the prompt", async () => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const place = piPlace({ agentDir: agentDirFor(provider) });
	const shell = spawn("sh", ["-c", '{ sleep 3; echo late; } | "$NODE" "$PI" -p "What is this?"'], {
		cwd: place.cwd,
		env: { ...place.env, NODE: process.execPath, PI: piProgram() },
	});
	onTestFinished(() => void shell.kill("SIGKILL"));
	shell.stdin.end();
	await once(shell, "close");
	expect(conversation(provider, 0).at(-1)).toBe("user: late\n\nWhat is this?");
});

test("pi exits silently when its reader closes the pipe", async () => {
	const provider = await startProvider();
	let release = () => {};
	const readerGone = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply("one\ntwo").reply(async () => {
		await readerGone;
		return "three";
	});
	provider.on(() => "more");
	const place = piPlace({ agentDir: agentDirFor(provider) });
	const script = '{ "$NODE" "$PI" -p 1 2 3 4; echo "code $?" >&2; } | { head -1; echo gone >&2; }';
	const shell = spawn("sh", ["-c", script], {
		cwd: place.cwd,
		env: { ...place.env, NODE: process.execPath, PI: piProgram() },
	});
	onTestFinished(() => void shell.kill("SIGKILL"));
	shell.stdin.end();
	const output = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"] as const) {
		shell[name].setEncoding("utf8").on("data", (chunk: string) => {
			output[name] += chunk;
			if (output.stderr.includes("gone")) release();
		});
	}
	await once(shell, "close");
	expect(output.stdout).toBe("one\n");
	expect(output.stderr).toMatch(/^gone\ncode (0|141)\n$/);
});

test.each(["openai-completions", "openai-responses", "anthropic-messages"] as const)(
	"a print turn with %s does not load Node's fetch",
	async (api) => {
		const provider = await startProvider();
		provider.reply([toolCall("bash", { command: "true" })]).reply("Done.");
		const report = 'process.on("exit",()=>console.error(Symbol.for("undici.globalDispatcher.1") in globalThis))';
		const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };
		const agentDir = tempAgentDir({ models: provider.modelsJson({ apis: [api] }) });
		const run = await runPi(["--model", "scripted", "-p", "go"], { agentDir, env });
		expect(run).toEqual({ code: 0, signal: null, stdout: "Done.\n", stderr: "bash true\nfalse\n" });
	},
);

/** Prints whether the program exited at once, or when Node had nothing left to do. */
const NATURAL_END =
	'const { emit } = process; process.emit = function (name) { if (name === "beforeExit") console.error("natural"); return emit.apply(this, arguments); };';

test("the program exits as soon as its output is written, even if a hook used fetch", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const url = `http://127.0.0.1:${await listen(createServer((_, response) => response.end("page")))}`;
	const hook = `export default (pi) => pi.on("agent_start", async () => { await (await fetch(${JSON.stringify(url)})).text(); });`;
	const agentDir = agentDirFor(provider, { hooks: { "get.ts": hook } });
	const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NATURAL_END)}` };
	expect(await runPi(["-p", "go"], { agentDir, env })).toEqual({
		code: 0,
		signal: null,
		stdout: "Done.\n",
		stderr: "",
	});
});

test("work that a hook left running may finish after the answer", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const cwd = tempDir();
	const hook = `import { writeFile } from "node:fs/promises";
		export default (pi) => pi.on("session", ({ reason }) => {
			if (reason === "shutdown") setTimeout(() => void writeFile("late.txt", "late"), 50);
		});`;
	const agentDir = agentDirFor(provider, { hooks: { "late.ts": hook } });
	expect(await runPi(["-p", "go"], { agentDir, cwd })).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(readFileSync(join(cwd, "late.txt"), "utf8")).toBe("late");
});

test("the start ends with the first reply, whose request does not wait for it", async () => {
	const directory = tempDir();
	const [script, mark] = [join(directory, "note-start.cjs"), join(directory, "started")];
	writeFileSync(script, `process.once("pi:started", () => require("fs").writeFileSync(${JSON.stringify(mark)}, ""));`);
	const provider = await startProvider();
	const hasStarted: boolean[] = [];
	for (const reply of [[toolCall("bash", { command: "true" })], [text("Done.")]]) {
		provider.reply(() => {
			hasStarted.push(existsSync(mark));
			return reply;
		});
	}
	const env = { NODE_OPTIONS: `--require ${script}` };
	const run = await runPi(["-p", "go"], { agentDir: agentDirFor(provider), env });
	expect({ hasStarted, ...run }).toMatchObject({ hasStarted: [false, true], code: 0, stdout: "Done.\n" });
});
