import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcceptedNames } from "../../src/cli/accepted-names.js";
import { tempDir } from "../helpers/temp.js";

function place() {
	const dir = tempDir();
	return { acceptedNames: join(dir, "cache", "accepted-names.json"), models: join(dir, "models.json") };
}

test("names count as accepted until models.json changes", () => {
	const paths = place();
	const names = { model: "loopback/scripted" };
	expect(new AcceptedNames(paths).has(names)).toBe(false);
	new AcceptedNames(paths).add(names);
	expect(new AcceptedNames(paths).has(names)).toBe(true);
	expect(new AcceptedNames(paths).has({ ...names, provider: "other" })).toBe(false);
	writeFileSync(paths.models, "{}");
	expect(new AcceptedNames(paths).has(names)).toBe(false);
});

test("a broken or unwritable file accepts nothing and throws nothing", () => {
	const paths = place();
	new AcceptedNames(paths).add({ model: "a" });
	writeFileSync(paths.acceptedNames, '{"state"');
	expect(new AcceptedNames(paths).has({ model: "a" })).toBe(false);
	const unwritable = { ...paths, acceptedNames: "/dev/null/accepted-names.json" };
	new AcceptedNames(unwritable).add({ model: "a" });
	expect(new AcceptedNames(unwritable).has({ model: "a" })).toBe(false);
});
