import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { HELP_TOPICS, subcommandHelp } from "../../src/cli/subcommand-help.js";

test.each(HELP_TOPICS)("pi %s --help describes it, and no line is longer than 128 columns", (topic) => {
	const line = parseArgs([...topic.split(" "), "--help"]);
	expect(line).toEqual({ kind: "help", topic: topic.split(" ") });
	const text = subcommandHelp(topic.split(" "));
	expect(text).toMatch(new RegExp(`^usage: pi ${topic}[ \n]`));
	for (const row of text.split("\n")) expect(row.length).toBeLessThanOrEqual(128);
});

test("every action of hooks and sessions has its help, and operands do not matter", () => {
	for (const action of ["list", "new", "check", "test", "trust", "untrust"])
		expect(HELP_TOPICS).toContain(`hooks ${action}`);
	for (const action of ["list", "show"]) expect(HELP_TOPICS).toContain(`sessions ${action}`);
	expect(subcommandHelp(["hooks", "check", "a.ts"])).toBe(subcommandHelp(["hooks", "check"]));
	expect(subcommandHelp(["sessions", "gone"])).toBe(subcommandHelp(["sessions"]));
});
