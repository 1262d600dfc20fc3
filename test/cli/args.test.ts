import { describe, expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { HELP_TEXT } from "../../src/cli/help.js";
import { type CliOptions, NO_ARGUMENTS } from "../../src/cli/options.js";
import { PiError } from "../../src/errors.js";
import { BUILTIN_FLAGS } from "../../src/hooks/flags.js";
import { GROUPINGS } from "../../src/usage/usage-report.js";

function refusal(argv: string[]): { code: string; message: string; hint: string | undefined } {
	try {
		const line = parseArgs(argv);
		const problem = line.kind === "session" ? line.options.hookFlags?.read([]).problem : null;
		if (problem) throw problem;
	} catch (error) {
		if (error instanceof PiError) return { code: error.code, message: error.message, hint: error.hint };
		throw error;
	}
	throw new Error("was accepted");
}

describe("the command line of a session", () => {
	test.each<[string, string[], Partial<CliOptions>]>([
		["is empty without arguments", [], {}],
		[
			"accepts messages and files in any order",
			["@a.ts", "fix", "@b.png", "test"],
			{ files: ["a.ts", "b.png"], messages: ["fix test"] },
		],
		[
			"treats everything after -- as messages",
			["-p", "--", "--model", "@x"],
			{ print: true, messages: ["--model @x"] },
		],
		[
			"reads limits of a run",
			["-p", "--max-turns", "20", "--max-cost", "0.5", "--max-time=1.5m", "go"],
			{ print: true, limits: { turns: 20, cost: 0.5, time: 90_000 }, messages: ["go"] },
		],
		["treats words as one message", ["fix", "the", "tests"], { messages: ["fix the tests"] }],
		[
			"treats texts with blanks, and commands between them, as messages of their own",
			["-p", "fix the tests", "/compact", "then commit"],
			{ print: true, messages: ["fix the tests", "/compact", "then commit"] },
		],
		[
			"treats quoted arguments among words as part of the message",
			["explain", "src/my file.ts", "please"],
			{ messages: ["explain src/my file.ts please"] },
		],
		["treats the words after a command as its arguments", ["/review", "a.ts"], { messages: ["/review a.ts"] }],
		["treats a path in a message as a word", ["what", "is", "in", "/tmp"], { messages: ["what is in /tmp"] }],
		["treats help with other words as a message", ["help", "me"], { messages: ["help me"] }],
		["treats a single @ as a message", ["@"], { messages: ["@"] }],
		["accepts a model with a thinking level", ["--model", "sonnet:high"], { model: "sonnet:high" }],
		["accepts -p next to --mode", ["-p", "--mode", "json"], { print: true, mode: "json" }],
		["accepts values after =", ["--model=x/y", "--thinking=low"], { model: "x/y", thinking: "low" }],
		[
			"splits lists",
			["--models", "a*, b", "--models", "c", "--tools", "read,ls"],
			{ models: ["a*", "b", "c"], tools: ["read", "ls"] },
		],
		["accepts --no-tools", ["--no-tools"], { tools: [] }],
		["lets the later of --tools and --no-tools win", ["--no-tools", "--tools", "ls"], { tools: ["ls"] }],
		[
			"repeats hooks, tools and skills",
			["--hook", "a", "--hook", "b", "--tool", "c", "--skill", "d"],
			{ hooks: ["a", "b"], customTools: ["c"], skills: ["d"] },
		],
		[
			"turns discovery off",
			["--no-hooks", "--no-skills", "--no-context-files", "--no-session"],
			{ findHooks: false, findSkills: false, contextFiles: false, keepSession: false },
		],
		["accepts joined short options", ["-cp", "go on"], { continue: true, print: true, messages: ["go on"] }],
		[
			"exports with and without a target",
			["--export", "in.jsonl", "out.html"],
			{ export: { file: "in.jsonl", out: "out.html" } },
		],
		["exports without a target", ["--export", "in.jsonl"], { export: { file: "in.jsonl", out: undefined } }],
		["lists all models", ["--list-models"], { listModels: "" }],
		["lists models that match a word", ["--list-models", "son"], { listModels: "son" }],
		["does not treat an option as the word", ["--list-models", "--offline"], { listModels: "", offline: true }],
		[
			"accepts system prompts",
			["--system-prompt", "a", "--append-system-prompt", "b", "--append-system-prompt", "c"],
			{ systemPrompt: "a", appendSystemPrompt: ["b", "c"] },
		],
		[
			"recognizes a subcommand only as the first word",
			["--offline", "doctor"],
			{ offline: true, messages: ["doctor"] },
		],
	])("%s", (_name, argv, expected) => {
		expect(parseArgs(argv)).toEqual({ kind: "session", options: { ...NO_ARGUMENTS, ...expected } });
	});

	test.each([
		[["-h"], "help"],
		[["--help", "--model", "x"], "help"],
		[["-v"], "version"],
		[["--version"], "version"],
		[["help"], "help"],
	])("%j asks for %s", (argv, kind) => {
		const hooks = { hooks: [], findHooks: true, trust: false };
		expect(parseArgs(argv)).toEqual(kind === "help" && argv[0] !== "hooks" ? { kind, hooks } : { kind });
	});

	test.each([[["help", "doctor"]], [["help", "sessions", "check"]], [["help", "acp"]]])(
		"%j is the help of a subcommand",
		(argv) => {
			expect(parseArgs(argv)).toEqual({ kind: "help", topic: argv.slice(1) });
		},
	);

	test.each<[string[], string, string]>([
		[["--modle", "x"], "unknown option --modle", "did you mean --model, --mode or --models?"],
		[["-x"], "unknown option -x", "pi --help lists all options"],
		[["- a list"], 'unknown option "- a list"', "put a message that starts with - after --"],
		[
			["--thinking", "hgh"],
			'--thinking "hgh": must be one of off, minimal, low, medium, high, xhigh, max',
			"did you mean high?",
		],
		[["--mode=xml"], '--mode "xml": must be one of text, json, rpc', "pi --help lists all options"],
		[["--model"], "--model <name>: the value is missing", "pi --help lists all options"],
		[["-pe"], "--extension <file>: the value is missing", "pi --help lists all options"],
		[["--tools", ""], "--tools <names>: the value is empty", "pi --help lists all options"],
		[["--tools", " ,"], "--tools <names>: the value is empty", "pi --help lists all options"],
		[["--hook", "a.ts", "--hook="], "--hook <file>: the value is empty", "pi --help lists all options"],
		[["-e", ""], "--extension <file>: the value is empty", "pi --help lists all options"],
		[["--on", "", "-p", "hi"], "--on <spec>: the value is empty", "pi --help lists all options"],
		[["--export", "a.jsonl", "b.html", "c"], '--export: unexpected argument "c"', "use --export <session> [<file>]"],
		[["--export", "a.jsonl", "-p", "hi"], "--export and --print cannot be combined", "pi --help lists all options"],
		[["-c", "--session", "x"], "--continue and --session cannot be combined", "pi --help lists all options"],
		[["-p", "-r"], "--resume requires an interactive session", "use --continue, or --session with a path or id"],
		[["--mode", "rpc", "hi"], "--mode rpc reads prompts from stdin, not from arguments", "send a prompt command"],
		[["-p", "--max-turns", "0"], '--max-turns: "0" is no limit', "use a number such as 20"],
		[["-p", "--max-cost", "cheap"], '--max-cost: "cheap" is no limit', "use USD such as 0.50"],
		[["-p", "--max-time", "30"], '--max-time: "30" is no limit', "use 30s, 5m or 1h"],
		[
			["--output-schema", "{}", "go"],
			"--output-schema needs --print or --mode json",
			"in RPC mode, prompt has outputSchema",
		],
		[
			["-p", "--resume-or-new", "--continue", "go"],
			'--resume-or-new "--continue": the name is missing',
			"pi --help lists all options",
		],
		[["-p", "--resume-or-new", "  ", "go"], '--resume-or-new "  ": the name is missing', "pi --help lists all options"],
		[
			["-p", "--resume-or-new", "a", "--continue", "go"],
			"--continue and --resume-or-new cannot be combined",
			"pi --help lists all options",
		],
		[
			["-p", "--resume-or-new", "a", "--no-session", "go"],
			"--resume-or-new and --no-session cannot be combined",
			"pi --help lists all options",
		],
		[
			["--max-turns", "3", "go"],
			"--max-turns, --max-cost and --max-time need --print or --mode json",
			"Escape stops a run on the screen",
		],
	])("%j is rejected", (argv, message, hint) => {
		expect(refusal(argv)).toEqual({ code: "bad_arguments", message, hint });
	});
});

describe("flags of hooks", () => {
	const declare = (name: string, type: "boolean" | "string") =>
		({ name, type, description: "", default: undefined, hook: "x.ts" }) as const;
	const DECLARED = [
		declare("plan", "boolean"),
		declare("color", "boolean"),
		declare("level", "string"),
		declare("dry-run", "string"),
	];

	function read(argv: string[]) {
		const line = parseArgs(argv);
		if (line.kind !== "session" || !line.options.hookFlags) throw new Error("no flags of hooks");
		const { hookFlags } = line.options;
		const { values, problem } = hookFlags.read(DECLARED);
		const { files, messages } = hookFlags.words();
		return { values, files, messages, problem: problem && `${problem.message} · ${problem.hint}` };
	}

	test.each<[string[], object]>([
		[["--plan", "fix it"], { values: { plan: true }, messages: ["fix it"] }],
		[["--no-color", "--plan", "--no-plan"], { values: { color: false, plan: false } }],
		[["--level", "high", "fix", "@a.ts"], { values: { level: "high" }, messages: ["fix"], files: ["a.ts"] }],
		[["--level=a=b", "--level="], { values: { level: "" } }],
		[["--dry-run=-x", "-p", "go"], { values: { "dry-run": "-x" }, messages: ["go"] }],
		[["--plan", "--", "--level"], { values: { plan: true }, messages: ["--level"] }],
		[
			["--level", "--plan"],
			{ values: { plan: true }, problem: "--level <value>: the value is missing · pi --help lists all options" },
		],
		[["--plan=yes"], { problem: "--plan accepts no value · pi --help lists all options" }],
		[
			["--plan", "--levle", "x"],
			{ values: { plan: true }, messages: ["x"], problem: "unknown option --levle · did you mean --level?" },
		],
		[["--mode", "rpc", "--level", "high"], { values: { level: "high" } }],
		[
			["--mode", "rpc", "--plan", "high"],
			{
				values: { plan: true },
				problem: "--mode rpc reads prompts from stdin, not from arguments · send a prompt command",
			},
		],
	])("%j", (argv, expected) => {
		expect(read(argv)).toEqual({ values: {}, files: [], messages: [], problem: null, ...expected });
	});

	test.each([
		["--list-models", "--plan"],
		["--export", "a.jsonl", "--plan"],
	])("%s loads no hooks, so it refuses %s", (...argv) => {
		expect(() => parseArgs(argv)).toThrow("unknown option --plan");
	});

	test("no hook can declare a flag of pi", () => {
		const long = [...HELP_TEXT.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name = ""]) =>
			name.replace(/^no-/, ""),
		);
		expect([...BUILTIN_FLAGS].sort()).toEqual([...new Set(long)].sort());
	});
});

describe("a subcommand", () => {
	const options = { hooks: [], findHooks: true, trust: false, offline: false, verbose: false, json: false };

	test.each<[string[], object, object]>([
		[["hooks"], { name: "hooks", action: "list" }, {}],
		[["hooks", "check", "a.ts"], { name: "hooks", action: "check", target: "a.ts" }, {}],
		[
			["hooks", "check", "a.ts", "--session", "s"],
			{ name: "hooks", action: "check", target: "a.ts" },
			{ session: "s" },
		],
		[["hooks", "untrust"], { name: "hooks", action: "untrust" }, {}],
		[["context", "--at", "3", "--json"], { name: "context", at: 3, verify: false }, { json: true }],
		[["context", "--verify", "--no-hooks"], { name: "context", verify: true }, { findHooks: false }],
		[["sessions", "list", "price"], { name: "sessions", action: "list", search: "price" }, {}],
		[["sessions", "show", "abc"], { name: "sessions", action: "show", target: "abc" }, {}],
		[["sessions", "list", "--all"], { name: "sessions", action: "list", all: true }, {}],
		[["sessions", "show", "abc", "--all"], { name: "sessions", action: "show", target: "abc", all: true }, {}],
		[["sessions", "search", "--", "--all", "-x"], { name: "sessions", action: "search", text: "--all -x" }, {}],
		[["sessions", "search", "half", "cents"], { name: "sessions", action: "search", text: "half cents" }, {}],
		[["sessions", "check", "--json"], { name: "sessions", action: "check" }, { json: true }],
		[["sessions", "check", "abc"], { name: "sessions", action: "check", target: "abc" }, {}],
		[["sessions", "repair", "abc"], { name: "sessions", action: "repair", target: "abc" }, {}],
		[
			["sessions", "import", "a.jsonl", "--session-dir", "d"],
			{ name: "sessions", action: "import", target: "a.jsonl", list: false, again: false },
			{ sessionDir: "d" },
		],
		[["usage"], { name: "usage", by: "day", days: null }, {}],
		[["usage", "--days", "7", "--by", "model", "--json"], { name: "usage", by: "model", days: 7 }, { json: true }],
		[["doctor", "--offline"], { name: "doctor" }, { offline: true }],
	])("%j", (argv, command, expected) => {
		expect(parseArgs(argv)).toEqual({ kind: "subcommand", command, options: { ...options, ...expected } });
	});

	test.each<[string[], string, string]>([
		[["hooks", "lsit"], 'pi hooks: unknown action "lsit"', "did you mean list?"],
		[["hooks", "check", "a.ts", "--sesion", "s"], "unknown option --sesion", "did you mean --session?"],
		[["hooks", "--json=yes"], "--json accepts no value", "pi --help lists all options"],
		[["hooks", "check", "--session"], "--session <path>: the value is missing", "pi --help lists all options"],
		[["hooks", "check"], "pi hooks check <file>: missing file", "pi --help lists all options"],
		[["sessions", "show"], "pi sessions show <id>: missing id", "pi sessions list prints the ids"],
		[["sessions", "repair"], "pi sessions repair <id>: missing id", "pi sessions list prints the ids"],
		[["sessions", "search", " "], "pi sessions search <text>: missing text", "pi sessions --help explains it"],
		...["import", "export", "show", "repair", "check", "list"].map((action): [string[], string, string] => [
			["sessions", action, ""],
			`pi sessions ${action}: an argument is empty`,
			`pi sessions ${action} --help explains it`,
		]),
		[["sessions", "list", "--again"], "--again works only with pi sessions import", "pi --help lists all options"],
		[
			["sessions", "check", "--from", "codex"],
			"--from works only with pi sessions import",
			"pi --help lists all options",
		],
		[["sessions", "chekc"], 'pi sessions: unknown action "chekc"', "did you mean check?"],
		[["sessions", "check", "a", "b"], 'pi sessions check: unexpected argument "b"', "pi --help lists all options"],
		[
			["sessions", "--all", "--session-dir", "d"],
			"--all and --session-dir cannot be combined",
			"pi --help lists all options",
		],
		[
			["sessions", "import", "f", "--all"],
			"--all does not work with pi sessions import",
			"pi --help lists all options",
		],
		[
			["context", "--at", "-1"],
			'--at "-1": expected the index of an entry, 0 or greater',
			"pi --help lists all options",
		],
		[["usage", "--by", "modle"], '--by "modle": expected day, model, project, session', "did you mean model?"],
		[["usage", "--days", "0"], '--days "0": expected a number of days, 1 or greater', "pi --help lists all options"],
		[["usage", "x"], 'pi usage: unexpected argument "x"', "pi --help lists all options"],
		[["doctor", "x"], 'pi doctor: unexpected argument "x"', "pi --help lists all options"],
	])("%j is rejected", (argv, message, hint) => {
		expect(refusal(argv)).toEqual({ code: "bad_arguments", message, hint });
	});
});

test("every option in the help is accepted, and every line fits 120 columns", () => {
	const options = [...HELP_TEXT.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)( <[^>]+>)?/gm)];
	expect(options.length).toBeGreaterThan(25);
	for (const [, option = "", value] of options) {
		const samples: Record<string, string> = { "--thinking": "low", "--mode": "json", "--max-time": "5m" };
		const isLimit = option.startsWith("--max-") || option === "--output-schema";
		const sample = samples[option] ?? (isLimit ? "5" : "x");
		expect(() => parseArgs([...(isLimit ? ["-p"] : []), option, ...(value ? [sample] : [])])).not.toThrow();
	}
	expect(HELP_TEXT.split("\n").filter((line) => line.length > 120)).toEqual([]);
});

test("pi usage accepts every grouping", () => {
	for (const by of GROUPINGS) expect(parseArgs(["usage", "--by", by])).toMatchObject({ command: { by } });
});
