import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";

const parse = (argv: readonly string[]) => {
	const line = parseArgs(["mcp", ...argv]);
	return line.kind === "subcommand" ? line.command : line;
};
const added = (definition: object, more: object = {}) => ({
	...{ name: "mcp", action: "add", server: "files", definition },
	...{ inProject: false, replace: false, check: false, ...more },
});

test.each<[string, string[], object]>([
	["an address", ["files", "https://a.example/mcp"], added({ url: "https://a.example/mcp" })],
	["an address in a variable", ["files", "$" + "{URL}/mcp"], added({ url: "$" + "{URL}/mcp" })],
	["a command", ["files", "--", "npx", "-y", "x", "--help"], added({ command: "npx", args: ["-y", "x", "--help"] })],
	["a command with --", ["files", "--", "a", "--", "b"], added({ command: "a", args: ["--", "b"] })],
	["a command without options and --", ["files", "npx", "x"], added({ command: "npx", args: ["x"] })],
	[
		"variables",
		["files", "--env", "A=1=2", "--env", "B", "-e", "C=", "--", "x"],
		added({ command: "x", env: { A: "1=2", B: "$" + "{B}", C: "" } }),
	],
	[
		"headers",
		["files", "http://a/b", "-H", "X-Key: a: b", "--header", "Y:c"],
		added({ url: "http://a/b", headers: { "X-Key": "a: b", Y: "c" } }),
	],
	[
		"all flags",
		["files", "--project", "--replace", "--check", "--", "x"],
		added({ command: "x" }, { inProject: true, replace: true, check: true }),
	],
	["claude: http", ["-t", "http", "-s", "user", "files", "https://a/b"], added({ url: "https://a/b" })],
	[
		"claude: project",
		["--transport", "stdio", "--scope", "project", "files", "--", "x"],
		added({ command: "x" }, { inProject: true }),
	],
])("pi mcp add: %s", (_, argv, command) => {
	expect(parse(["add", ...argv])).toEqual(command);
});

test.each<[string[], string | RegExp]>([
	[["add"], "pi mcp add <name>: missing name"],
	[["add", "a b", "https://a"], "can have only letters, digits, _ and -"],
	[["add", "a"], "missing address or command"],
	[["add", "a", "npx", "-y", "x"], "unknown option -y"],
	[["add", "a", "https://a", "b"], "unexpected arguments after the address"],
	[["add", "a", "https://[", "--project"], "is not a valid URL"],
	[["add", "a", "tracker.example.com/mcp"], "expected an http or https address, or a command"],
	[["add", "a", "localhost:3000"], "expected an http or https address, or a command"],
	[["add", "a", "-t", "http", "--", "x"], "expected an http or https address"],
	[["add", "a", "-t", "sse", "https://a"], "does not speak server-sent events"],
	[["add", "a", "-t", "x", "https://a"], '--transport "x": must be stdio or http'],
	[["add", "a", "-t", "stdio", "https://a"], "needs a command"],
	[["add", "a", "-s", "local", "--", "x"], "no servers for one user in one project"],
	[["add", "a", "-s", "user", "--project", "--", "x"], "exclude each other"],
	[["add", "a", "--env", "A=1", "https://a"], "--env works only with a command"],
	[["add", "a", "--header", "A: 1", "--", "x"], "--header works only with an address"],
	[["add", "a", "x", "--", "y"], "expected only the name of the server before --"],
	[["list", "x"], 'unexpected argument "x"'],
	[["list", "--project"], "shows the servers of all scopes"],
	[["remove"], "pi mcp remove <name>: missing name"],
	[["remove", "a", "b"], 'unexpected argument "b"'],
	[["remove", "a", "--check"], "--check works only with pi mcp add"],
	[["gone"], 'unknown action "gone"'],
])("pi mcp %j is refused", (argv, message) => {
	expect(() => parse(argv)).toThrow(message);
});

test("errors do not repeat values that may be secret", () => {
	for (const argv of [
		["--env", "sk-secret", "--", "x"],
		["--header", "sk-secret", "https://a"],
		["-H", "Key: a\nsk-secret", "https://a"],
	]) {
		const refuse = () => parse(["add", "a", ...argv]);
		expect(refuse).toThrow(/^--(?:env|header): expected /);
		expect(refuse).not.toThrow("sk-secret");
	}
});

test("pi mcp lists, and removes by scope", () => {
	expect(parse([])).toEqual({ name: "mcp", action: "list" });
	expect(parse(["remove", "a", "-s", "project"])).toEqual({
		name: "mcp",
		action: "remove",
		server: "a",
		inProject: true,
	});
});
