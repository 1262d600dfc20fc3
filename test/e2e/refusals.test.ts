import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

test("an unknown model is rejected with the nearest name", async () => {
	const provider = await startProvider();
	const run = await runPi(["-p", "--model", "scriptd", "--offline", "hi"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(/^pi: [^\n]*"scriptd"[^\n]*did you mean loopback[^\n]*\/scripted\?\n$/);
	expect(provider.requests).toEqual([]);
});

test("without a model, the error says how to set one up", async () => {
	const run = await runPi(["-p", "--offline", "hi"]);
	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/^[^\n]*ANTHROPIC_API_KEY[^\n]*pi --demo[^\n]*\n$/);
});

test("a model without a key names the variable to set", async () => {
	const run = await runPi(["-p", "--offline", "--model", "anthropic/claude-sonnet-4-5", "hi"]);
	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/^[^\n]*ANTHROPIC_API_KEY[^\n]*\n$/);
});

test("interactive mode without a terminal is rejected, and the error names the option to use", async () => {
	expect(await runPi(["hi"])).toEqual({
		code: 2,
		signal: null,
		stdout: "",
		stderr: 'pi: stdin or stdout is not a terminal · use pi -p "prompt"\n',
	});
});

test.each([
	[["--modle", "x"], "--model"],
	[["--mode", "xml"], "json"],
	[["--plain", "--mode", "json"], "cannot be combined"],
])("bad usage %j exits with 2 and one line", async (args, named) => {
	const run = await runPi(args);
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(/^pi: [^\n]+\n$/);
	expect(run.stderr).toContain(named);
});

test("a missing prompt is bad usage", async () => {
	const provider = await startProvider();
	const run = await runPi(["-p"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("missing prompt") });
});

test.each([
	["a text file", "just notes\n"],
	["JSON of someone else", '{"name":"x"}\n'],
	["binary data", "\x00\x01\x02"],
])("--session with %s is rejected by name, and the file is unchanged", async (_, content) => {
	const provider = await startProvider();
	const cwd = tempDir();
	const file = join(cwd, "mine.jsonl");
	writeFileSync(file, content);
	const run = await runPi(["-p", "--session", file, "hi"], { agentDir: agentDirFor(provider), cwd });
	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/^pi: [^\n]*mine\.jsonl[^\n]*\n$/);
	expect(readFileSync(file, "utf8")).toBe(content);
	expect(provider.requests).toEqual([]);
});

test("--session with a directory is rejected by name", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	mkdirSync(join(cwd, "folder"));
	const run = await runPi(["-p", "--session", "./folder", "hi"], { agentDir: agentDirFor(provider), cwd });
	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/^pi: [^\n]*folder[^\n]*\n$/);
});

test("a missing file argument is named before any request", async () => {
	const provider = await startProvider();
	const run = await runPi(["-p", "@missing.txt", "hi"], { agentDir: agentDirFor(provider) });
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(/^pi: [^\n]*missing\.txt[^\n]*\n$/);
	expect(provider.requests).toEqual([]);
});

test("a broken settings file is named with its line, and the prompt is still answered", async () => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const agentDir = agentDirFor(provider, { files: { "settings.json": '{\n  "theme": "dark",,\n}\n' } });
	const run = await runPi(["-p", "--model", "loopback/scripted", "hi"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(run.stderr).toMatch(/^[^\n]*settings\.json[^\n]*\b2\b[^\n]*\n$/);
});

test("a hook that does not load is named, and the prompt is still answered", async () => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const agentDir = agentDirFor(provider, { hooks: { "broken.ts": "export default function (pi {" } });
	const run = await runPi(["-p", "hi"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(run.stderr).toMatch(/^[^\n]*broken\.ts[^\n]*\n$/);
});

test("a hook that other users can change is not loaded, and the prompt is still answered", async () => {
	const provider = await startProvider();
	const names = ["file.ts", "pack/index.ts", "deep/index.ts"];
	const files = names.map((name) => [`hooks/${name}`, `export default () => console.log("${name} ran");`] as const);
	const agentDir = agentDirFor(provider, { files: Object.fromEntries(files) });
	const [hooks, elsewhere] = [join(agentDir, "hooks"), tempDir()];
	const at = (name: string) => join(hooks, name);
	for (const name of names) chmodSync(at(name), 0o600);
	for (const name of [".", "pack", "deep"]) chmodSync(at(name), 0o700);
	writeFiles(elsewhere, { "linked.ts": 'export default () => console.log("link.ts ran");' });
	symlinkSync(join(elsewhere, "linked.ts"), at("link.ts"));
	chmodSync(at("file.ts"), 0o620);
	for (const dir of [at("pack"), elsewhere]) chmodSync(dir, 0o707);
	provider.on(() => "Fine.");
	const refusal = (hook: string, place: string) =>
		`Hook ${hook} was not loaded: other users can write to ${place} · chmod go-w ${place}`;
	const refusesSome = await runPi(["-p", "hi"], { agentDir });
	expect(refusesSome).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(refusesSome.stderr.trimEnd().split("\n")).toEqual([
		"deep/index.ts ran",
		refusal(at("file.ts"), at("file.ts")),
		refusal(at("link.ts"), elsewhere),
		refusal(at("pack/index.ts"), at("pack")),
	]);
	chmodSync(hooks, 0o770);
	const refusesAll = await runPi(["-p", "hi"], { agentDir });
	expect(refusesAll).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(refusesAll.stderr).toContain(refusal(at("deep/index.ts"), hooks));
	expect(refusesAll.stderr).not.toContain(" ran");
});
