import { expect, test } from "vitest";
import { nearSubcommand } from "../../src/cli/command-line.js";

test.each<[string, string]>([
	["session list", "sessions list"],
	["sesions", "sessions"],
	["hook check a.ts b.ts", "hooks check a.ts b.ts"],
	["model show anthropic/x --json", "models show anthropic/x --json"],
	["instal npm:x -l", "install npm:x -l"],
	["Docter", "doctor"],
	["hlep", "help"],
])("%s may mean pi %s", (line, meant) => {
	expect(nearSubcommand(line.split(" "))).toEqual(meant.split(" "));
});

test.each([
	"",
	"hi",
	"fix the tests",
	"session handling is broken",
	"model the data",
	"instal the dependencies",
	"sessions list",
	"help",
	"acp",
	"-p session list",
	"session list --print",
	"session --mode=json list",
	"-- session list",
	"text",
	"in",
])("%j is what it says", (line) => {
	expect(nearSubcommand(line === "" ? [] : line.split(" "))).toBeNull();
});

test("an argument with blanks is a prompt", () => {
	expect(nearSubcommand(["session list"])).toBeNull();
});
