import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGitServer } from "../helpers/git-server.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import type { PiTerminal } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

/** A hook with a command that says a word, and that marks its load in the project. */
const HELLO = (word: string) => `import { writeFileSync } from "node:fs";
import leftPad from "left-pad";
writeFileSync("ran", ${JSON.stringify(word)});
export default function (pi) {
	pi.command("hello", { description: "Says a word", handler: () => ({ status: leftPad(${JSON.stringify(word)}) }) });
}
`;

async function place() {
	const provider = await startProvider();
	const registry = await startNpmRegistry();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	const publish = (version: string, word: string) =>
		registry.publish(
			definePackage(
				{ name: "hello-kit", version, description: "Says hello", dependencies: { "left-pad": "1" } },
				{
					"hooks/hello.ts": HELLO(word),
					"skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies up\n---\nTidy.\n",
				},
			),
		);
	registry.publish(
		definePackage(
			{ name: "left-pad", version: "1.3.0" },
			{ "index.js": 'module.exports = (text) => "padded " + text;\n' },
		),
	);
	publish("1.0.0", "first");
	const options = { agentDir, cwd, env: { ...registry.env } };
	const ran = () => (existsSync(join(cwd, "ran")) ? readFileSync(join(cwd, "ran"), "utf8") : null);
	return { provider, registry, agentDir, cwd, publish, options, ran };
}

async function quit(pi: PiTerminal): Promise<void> {
	await pi.press("ctrl+d");
	await pi.exited;
}

test("a package is installed, asked about, updated with a diff, refused when tampered with, and removed", async () => {
	const { agentDir, cwd, publish, options, ran, provider } = await place();
	const installed = await runPi(["install", "npm:hello-kit"], options);
	expect(installed).toMatchObject({ code: 0, stderr: "" });
	expect(installed.stdout).toBe(
		"Installed npm:hello-kit 1.0.0: 1 hook, 1 skill, with 1 dependency\n" +
			"None of its code has run · the next start of pi shows the code and asks whether to run it\n",
	);
	expect(ran()).toBeNull();

	const first = await openPi(options);
	const question = await first.waitForText("Run it?");
	expect(question).toContain("The package npm:hello-kit has code that pi would run.");
	expect(question).toContain("brings 1 hook, 1 skill, version 1.0.0");
	expect(question).toMatch(/hooks\/hello\.ts +0\.2 KB +[0-9a-f]{12} +new/);
	expect(question).toMatch(/node_modules\/left-pad 1\.3\.0 +\d+ B +[0-9a-f]{12} +new/);
	expect(ran()).toBeNull();
	await answer(first, "y");
	await first.waitForText("1 hook");
	await submit(first, "/hello");
	await first.waitForText("padded first");
	await quit(first);

	publish("1.1.0", "second");
	expect((await runPi(["update"], options)).stdout).toContain(
		"Updated npm:hello-kit: 1.0.0 → 1.1.0: 1 hook, 1 skill\n",
	);
	const second = await openPi(options);
	expect(await second.waitForText("Run it?")).toMatch(
		/hooks\/hello\.ts\s+0\.2 KB +[0-9a-f]{12} +changed since \d+ \w{3} +\+2 −2/,
	);
	await answer(second, "v");
	expect(await second.waitForText('writeFileSync("ran", "second")')).toContain("Package code that would run");
	await second.press("escape");
	await second.waitForText("Run it?");
	await answer(second, "y");
	await second.waitForText("1 hook");
	await submit(second, "/hello");
	await second.waitForText("padded second");
	await quit(second);

	expect((await runPi(["list"], options)).stdout).toBe("npm:hello-kit  1.1.0  user  trusted  1 hook, 1 skill\n");
	const { dir } = JSON.parse(readFileSync(join(agentDir, "packages.lock.json"), "utf8")).packages["npm:hello-kit"];
	writeFileSync(join(agentDir, "packages", dir, "node_modules/left-pad/index.js"), "process.exit(3);\n");
	const third = await openPi(options);
	await third.waitForText("node_modules/left-pad/index.js");
	await third.waitForText("pi install restores it");
	await quit(third);
	const doctor = await runPi(["doctor"], options);
	expect(doctor.stdout).toMatch(
		/!! +packages +Package npm:hello-kit was not loaded: .*left-pad\/index\.js · pi install restores it/,
	);
	expect((await runPi(["install"], options)).stdout).toContain("Installed npm:hello-kit 1.1.0");
	provider.reply("Fine.");
	expect(await runPi(["-p", "hi"], options)).toMatchObject({ code: 0, stderr: "" });

	expect((await runPi(["remove", "hello-kit"], options)).stdout).toBe("Removed npm:hello-kit\n");
	expect((await runPi(["list"], options)).stdout).toBe("No packages · pi install npm:<name> installs one\n");
	expect(readdirSync(join(agentDir, "packages")).filter((name) => name === dir)).toEqual([]);
	expect(readFileSync(join(agentDir, "trust.json"), "utf8")).not.toContain("hello-kit");
	expect(readdirSync(cwd)).toEqual(["ran"]);
});

test("without a terminal, an untrusted package ends pi with a hint; --trust runs it once and stores nothing", async () => {
	const { options, ran, provider, agentDir } = await place();
	await runPi(["install", "npm:hello-kit@1.0.0"], options);
	const refused = await runPi(["-p", "hi"], options);
	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toBe(
		"pi: Package npm:hello-kit was not loaded: it is not trusted · start pi in a terminal and answer the question, or pass --trust to run it once\n",
	);
	expect([ran(), provider.requests.length]).toEqual([null, 0]);
	provider.reply("Fine.", "Fine.");
	expect(await runPi(["-p", "--trust", "hi"], options)).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect([ran(), existsSync(join(agentDir, "trust.json"))]).toEqual(["first", false]);
	expect(await runPi(["-p", "--no-hooks", "hi"], options)).toMatchObject({ code: 0 });
});

test("-e uses a package for one run, from npm, git or a directory, and changes no settings", async () => {
	const { options, provider, agentDir, ran } = await place();
	const settings = readFileSync(join(agentDir, "settings.json"), "utf8");
	const server = await startGitServer();
	const repository = await server.create("kit");
	await repository.commit({
		"hooks/mark.ts":
			'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "git");\nexport default function () {}\n',
	});
	provider.reply("Fine.", "Fine.");
	expect((await runPi(["-p", "-e", "npm:hello-kit", "hi"], options)).code).toBe(1);
	expect(await runPi(["-p", "--trust", "-e", "npm:hello-kit", "hi"], options)).toMatchObject({ code: 0, stderr: "" });
	expect(ran()).toBe("first");
	const env = { ...options.env, ...server.env };
	const fromGit = await runPi(["-p", "--trust", "-e", `git:${repository.url}`, "hi"], { ...options, env });
	expect(fromGit).toMatchObject({ code: 0, stderr: "" });
	expect(ran()).toBe("git");
	expect(readFileSync(join(agentDir, "settings.json"), "utf8")).toBe(settings);
	expect(existsSync(join(agentDir, "packages.lock.json"))).toBe(false);
});

test("a project's package is installed with --local, locked in the project and asked about", async () => {
	const { options, cwd, ran } = await place();
	expect((await runPi(["install", "--local", "npm:hello-kit"], options)).stdout).toContain(
		"Installed npm:hello-kit 1.0.0 in this project",
	);
	expect(readdirSync(join(cwd, ".pi")).sort()).toEqual(["packages.lock.json", "settings.json"]);
	const pi = await openPi(options);
	await pi.waitForText("The package npm:hello-kit has code");
	await answer(pi, "n");
	await pi.waitForText("it is not trusted");
	expect(ran()).toBeNull();
	await quit(pi);
	expect((await runPi(["remove", "--local", "hello-kit"], options)).code).toBe(0);
	expect(JSON.parse(readFileSync(join(cwd, ".pi/settings.json"), "utf8"))).toEqual({});
});

test("errors are one line with the next step, and the words of a prompt are not a package", async () => {
	const { options, agentDir } = await place();
	const runs: [string[], number, string][] = [
		[
			["install", "npm:nothing"],
			1,
			"pi: Cannot install npm:nothing: the registry has no package nothing · check the name and the registry\n",
		],
		[["remove", "nothing"], 2, "pi: No package nothing is installed for all projects · pi list shows all packages\n"],
		[
			["install", "https://example.com/x"],
			2,
			'pi: Cannot use the package "https://example.com/x": an address needs a kind · use git:https://example.com/x\n',
		],
		[
			["update", "the", "readme"],
			2,
			'pi: pi update: unexpected argument "readme" · pi update --help explains it; to send a message that starts with "update", put it in quotes\n',
		],
	];
	for (const [args, code, stderr] of runs)
		expect(await runPi(args, options)).toEqual({ code, stderr, stdout: "", signal: null });
	expect(existsSync(join(agentDir, "packages.lock.json"))).toBe(false);
});

/** The accent of the theme in the package, in 24-bit or 256 colors. */
const ACCENT = /38;(?:2;122;162;247|5;111)m/;

test("requests with messages of a package's hook are attributed to the package, and can be recomputed", async () => {
	const { agentDir, cwd, registry, provider, options } = await place();
	const note = `export default function (pi) {
	pi.on("context", (event) => ({
		messages: [...event.messages, { role: "user", content: [{ type: "text", text: "note of the package" }], timestamp: 0 }],
	}));
}
`;
	registry.publish(
		definePackage(
			{ name: "note-kit" },
			{ "hooks/note.ts": note, "themes/kit.json": '{ "colors": { "accent": "#7aa2f7" } }' },
		),
	);
	expect(await runPi(["install", "npm:note-kit"], options)).toMatchObject({ code: 0 });
	provider.reply("One.").reply("Two.");
	expect(await runPi(["-p", "--trust", "go"], options)).toMatchObject({ code: 0, stdout: "One.\n", stderr: "" });
	expect(await runPi(["-p", "--trust", "-c", "again"], options)).toMatchObject({ code: 0, stdout: "Two.\n" });
	expect(provider.requests.map(({ messages }) => messages.at(-1)?.text)).toEqual(
		Array.from({ length: 2 }, () => "note of the package"),
	);
	const sessions = join(agentDir, "sessions");
	const file = readdirSync(sessions, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(".jsonl"));
	const context = (...args: string[]) =>
		runPi(["context", "--session", join(sessions, file ?? ""), "--trust", ...args], options);
	expect(await context("--verify")).toMatchObject({ code: 0, stdout: "All 2 requests match the recorded ones\n" });
	expect((await context()).stdout).toContain("npm:note-kit/hooks/note.ts");
	expect((await runPi(["hooks", "list", "--trust"], options)).stdout).toContain("npm:note-kit/hooks/note.ts");

	const settings = JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));
	writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ ...settings, theme: "kit" }));
	const pi = await openPi({ ...options, cwd, env: { ...options.env, COLORTERM: "truecolor" } });
	await pi.waitForText("Run it?");
	expect(pi.output()).not.toMatch(ACCENT);
	await answer(pi, "y");
	await pi.waitForText("1 hook");
	await submit(pi, "/theme");
	await pi.waitForText(/→ kit/);
	expect(pi.output()).toMatch(ACCENT);
	await pi.press("escape");
	await pi.waitForGone("→ kit");
	await quit(pi);
});
